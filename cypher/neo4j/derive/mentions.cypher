// what: tie chunks to the entities they mention
// parameters: mentions: [[chunk uid, entity uid]] sorted
// returns: nothing
UNWIND $mentions AS pair
MATCH (chunk:Chunk {uid: pair[0]})
MATCH (entity:Entity {uid: pair[1]})
MERGE (chunk)-[:MENTIONS]->(entity)
