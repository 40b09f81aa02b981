// what: tie chunks to the entities they mention
// parameters: mentions: [[chunk uid, entity uid]] sorted
// returns: nothing
UNWIND $mentions AS pair
MATCH (chunk:Chunk {uid: pair[0]})
WITH chunk, pair[1] AS mentioned
MATCH (entity:Entity {uid: mentioned})
MERGE (chunk)-[:MENTIONS]->(entity)
