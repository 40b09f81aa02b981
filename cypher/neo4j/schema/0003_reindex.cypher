// what: nothing to create: from this version on, which property holds the vectors depends on how
//   often the embedder was changed (CogniGraph.generation), so older versions must not open this
// parameters: none
// returns: nothing
