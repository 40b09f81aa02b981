// what: mark a format change without creating anything: since this version, the property that holds
//   the vectors depends on CogniGraph.generation (how often the embedder was changed), which older
//   versions of the software would misread
