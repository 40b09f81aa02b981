// what: record user constraints on pairs of entities
// parameters: constraints: [{a, b, properties}] sorted by uids
UNWIND $constraints AS row
MATCH (a:Named {uid: row.a})
WITH row, a, row.b AS other
MATCH (b:Named {uid: other})
MERGE (a)-[ruling:RULED]->(b)
SET ruling = row.properties
