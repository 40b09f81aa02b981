// what: set what triples say once their ends are resolved
// parameters: rows: [{uid, fold}]
// returns: nothing
UNWIND $rows AS row
MATCH (triple:Fact {uid: row.uid})
SET triple.fold = row.fold
