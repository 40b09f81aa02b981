// what: turn triples into duplicates of their canonical triples; what superseded them, or they
//   superseded, is decided again
// parameters: rows: [{uid, into}], labels (of the space's own index)
UNWIND $rows AS row
MATCH (triple:Fact {uid: row.uid})
WITH row, triple, row.into AS uid
MATCH (into:Fact {uid: uid})
REMOVE triple:Triple
REMOVE triple:$($labels)
SET triple:TripleVariant
CREATE (triple)-[:SAME_AS]->(into)
WITH triple
MATCH (triple)-[gone:SUPERSEDES]-(:Fact)
DELETE gone
