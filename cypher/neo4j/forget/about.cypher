// what: find the messages that mention an entity, or state a fact about it
// parameters: space, name_hash, normalised (of its name or an alias)
// returns: session uid, message id
CALL () {
  MATCH (entity:Entity {name_hash: $name_hash})
  WHERE entity.space = $space AND entity.normalised = $normalised
  RETURN entity
  UNION
  MATCH (alias:Alias {name_hash: $name_hash})-[:SAME_AS]->(entity:Entity)
  WHERE alias.space = $space AND alias.normalised = $normalised
  RETURN entity
  UNION
  MATCH (alias:Alias {name_hash: $name_hash})-[:ALIAS_OF]->(named:Named)
  WHERE alias.space = $space AND alias.normalised = $normalised
  WITH coalesce(named.shown_uid, named.uid) AS uid
  MATCH (entity:Entity {uid: uid})
  RETURN entity
}
CALL (entity) {
  MATCH (entity)<-[:MENTIONS]-(chunk:Chunk)
  RETURN chunk
  UNION
  MATCH (entity)<-[:SUBJECT|OBJECT]-(:Triple)-[:EVIDENCE]->(chunk:Chunk)
  RETURN chunk
}
RETURN DISTINCT chunk.session_uid, chunk.message_id
