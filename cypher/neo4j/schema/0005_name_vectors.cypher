// what: rank pairs that differ only in a generic type last among suspected duplicates;
//   since this version names have vectors, which need no index
MATCH ()-[pair:RESEMBLES]->()
WHERE pair.kind = 'untyped'
SET pair.score = 0.3;
