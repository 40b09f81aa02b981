// what: show names that are one but for a type that says nothing last of all that is suspected;
//   from this version on names have vectors, which need no index
// parameters: none
// returns: nothing
MATCH ()-[pair:RESEMBLES]->()
WHERE pair.kind = 'untyped'
SET pair.score = 0.3;
