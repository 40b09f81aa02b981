// what: set the slots of triples
// parameters: rows: [{uid, slot, holder, replaces}]
UNWIND $rows AS row
MATCH (triple:Fact {uid: row.uid})
SET triple.slot = row.slot, triple.holder = row.holder, triple.replaces = row.replaces
