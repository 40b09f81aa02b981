// what: count what had been said in a space by a time
// parameters: space, until
// returns: sessions, messages, chunks, entities, triples, keys, pending, leased (0), done, failed
WITH $space AS space, $until AS until
CALL (space, until) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, at, seq)
  WHERE chunk.space = space AND chunk.at <= until AND chunk.seq IS NOT NULL
  RETURN count(DISTINCT chunk.session_uid) AS sessions, count(chunk) AS chunks,
         sum(CASE WHEN chunk.part = 0 THEN 1 ELSE 0 END) AS messages,
         count(CASE WHEN chunk.state = 'pending' THEN 1 END) AS pending,
         count(CASE WHEN chunk.state = 'done' THEN 1 END) AS done,
         count(CASE WHEN chunk.state = 'failed' THEN 1 END) AS failed
}
CALL (space, until) {
  MATCH (entity:Entity) USING INDEX entity:Entity(space)
  WHERE entity.space = space
    AND (EXISTS { MATCH (entity)<-[:SUBJECT|OBJECT]-(triple:Triple)
                  WHERE triple.first_observed <= until }
         OR EXISTS { MATCH (entity)<-[:MENTIONS]-(chunk:Chunk) WHERE chunk.at <= until })
  RETURN count(entity) AS entities
}
CALL (space, until) {
  MATCH (triple:Triple) USING INDEX triple:Triple(space, last_observed)
  WHERE triple.space = space AND triple.last_observed IS NOT NULL
    AND triple.first_observed <= until
  RETURN count(triple) AS triples
}
CALL (space, until) {
  MATCH (session:Session) USING INDEX session:Session(space, ended_at)
  WHERE session.space = space AND session.ended_at IS NOT NULL AND session.started_at <= until
  CALL (session, until) {
    OPTIONAL MATCH (session)-[:HAS_REVISION]->(revision:Revision)
    WHERE revision.at <= until
    WITH revision ORDER BY revision.version DESC LIMIT 1
    RETURN coalesce(revision.keys, []) AS then_keys
  }
  WITH CASE WHEN session.ended_at <= until
            THEN COLLECT { MATCH (session)-[:HAS_KEY]->(key:Key) RETURN key.name }
            ELSE then_keys END AS names
  UNWIND names AS name
  RETURN count(DISTINCT name) AS keys
}
RETURN sessions, messages, chunks, entities, triples, keys, pending, 0 AS leased, done, failed
