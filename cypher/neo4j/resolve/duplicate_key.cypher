// what: set the key that duplicate triples share, which depends on their canonical entities
// parameters: rows: [{uid, fold}]
UNWIND $rows AS row
MATCH (triple:Fact {uid: row.uid})
SET triple.fold = row.fold
