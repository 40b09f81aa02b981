// what: insert or overwrite pairs of similar entities (RULED replaces RESEMBLES for constraints)
// parameters: pairs: [{a, b, properties}] sorted by uids
UNWIND $pairs AS row
MATCH (a:Named {uid: row.a})
WITH row, a, row.b AS other
MATCH (b:Named {uid: other})
MERGE (a)-[pair:RESEMBLES]->(b)
SET pair = row.properties
