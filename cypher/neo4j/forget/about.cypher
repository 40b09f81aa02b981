// what: find the messages that mention an entity, or state a fact about it
// parameters: space, name_hash, normalised (of its name or an alias)
// part: entities_called
CALL (entity) {
  MATCH (entity)<-[:MENTIONS]-(chunk:Chunk)
  RETURN chunk
  UNION
  MATCH (entity)<-[:SUBJECT|OBJECT]-(:Triple)-[:EVIDENCE]->(chunk:Chunk)
  RETURN chunk
}
RETURN DISTINCT chunk.session_uid, chunk.message_id
