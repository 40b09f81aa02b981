// what: read the aliases that the chunks of a session state
// parameters: session (uid)
// returns: message id, part, uid of the entity, alias, normalised alias, how the chunk spells it
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, at, seq)
WHERE chunk.session_uid = $session AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
MATCH (chunk)<-[source:STATED_IN]-(alias:Alias)-[:ALIAS_OF]->(entity:Named)
RETURN chunk.message_id, chunk.part, entity.uid, alias.name, alias.normalised, source.spelled
ORDER BY chunk.at, chunk.seq, alias.uid
