// what: insert or overwrite pairs of names that lie near each other
// parameters: pairs: [{a, b, score, reason}] sorted by uids, embedder
// returns: nothing
UNWIND $pairs AS row
MATCH (a:Named {uid: row.a})
WITH row, a, row.b AS other
MATCH (b:Named {uid: other})
MERGE (a)-[pair:NEAR {embedder: $embedder}]->(b)
SET pair.score = row.score, pair.reason = row.reason
