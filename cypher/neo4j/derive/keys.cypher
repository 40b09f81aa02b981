// what: assign keys to a session
// parameters: space, session (uid), keys: [{uid, name, weight, vector}] sorted by uid
MATCH (session:Session {uid: $session})
UNWIND $keys AS row
MERGE (key:Key {uid: row.uid})
  ON CREATE SET key.space = $space, key.name = row.name
MERGE (session)-[has:HAS_KEY]->(key)
SET has.weight = row.weight
WITH key, row
CALL (key, row) {
  WITH key, row WHERE key.embedding IS NULL AND row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(key, 'embedding', row.vector)
}
