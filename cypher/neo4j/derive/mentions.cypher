// what: link chunks to the entities they mention
// parameters: mentions: [[chunk uid, entity uid, canonical uid, how the chunk spells it]] sorted
UNWIND $mentions AS row
MATCH (chunk:Chunk {uid: row[0]})
WITH row, chunk, row[2] AS mentioned
MATCH (entity:Entity {uid: mentioned})
OPTIONAL MATCH (chunk)-[known:MENTIONS]->(entity)
WHERE coalesce(known.raw, entity.uid) = row[1]
WITH row, chunk, entity, count(known) AS known
FOREACH (_ IN CASE WHEN known = 0 THEN [1] ELSE [] END |
  CREATE (chunk)-[:MENTIONS {raw: CASE WHEN row[1] = row[2] THEN null ELSE row[1] END,
                             spelled: row[3]}]->(entity))
