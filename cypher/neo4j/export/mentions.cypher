// what: read the entities that the chunks of a session mention, as extracted
// parameters: session (uid)
// returns: message id, part, uid, name, normalised name, type, how the chunk spells it
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, at, seq)
WHERE chunk.session_uid = $session AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
MATCH (chunk)-[mention:MENTIONS]->(shown:Entity)
WITH chunk, mention, coalesce(mention.raw, shown.uid) AS raw
MATCH (entity:Named {uid: raw})
RETURN chunk.message_id, chunk.part, entity.uid, entity.name, entity.normalised, entity.type,
       mention.spelled
ORDER BY chunk.at, chunk.seq, entity.uid
