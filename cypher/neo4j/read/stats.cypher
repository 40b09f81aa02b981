// what: count the contents of a space
// parameters: space, now
// returns: sessions, messages, chunks, entities, triples, keys, pending, leased, done, failed,
//   pending summaries, parked summaries, chunks without their vectors
WITH $space AS space, $now AS now
CALL (space, now) {
  MATCH (session:Session) USING INDEX session:Session(space, ended_at)
  WHERE session.space = space AND session.ended_at IS NOT NULL
  RETURN count(session) AS sessions, sum(session.messages) AS messages, sum(session.chunks) AS chunks,
         count(CASE WHEN session.summary_state = 'pending' THEN 1 END) AS summaries_pending,
         count(CASE WHEN session.summary_state = 'failed' THEN 1 END) AS summaries_failed
}
CALL (space, now) {
  MATCH (entity:Entity) USING INDEX entity:Entity(space)
  WHERE entity.space = space
  RETURN count(entity) AS entities
}
CALL (space, now) {
  MATCH (triple:Triple) USING INDEX triple:Triple(space, seq)
  WHERE triple.space = space AND triple.seq > 0
  RETURN count(triple) AS triples
}
CALL (space, now) {
  MATCH (key:Key) USING INDEX key:Key(space)
  WHERE key.space = space
  RETURN count(key) AS keys
}
CALL (space, now) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
  WHERE chunk.state IN ['pending', 'done', 'failed'] AND chunk.space = space AND chunk.seq > 0
  RETURN count(CASE WHEN chunk.state = 'pending' THEN 1 END) AS pending,
         count(CASE WHEN chunk.state = 'done' THEN 1 END) AS done,
         count(CASE WHEN chunk.state = 'failed' THEN 1 END) AS failed
}
CALL (space, now) {
  MATCH (session:Session) USING INDEX session:Session(space, ended_at)
  WHERE session.space = space AND session.ended_at IS NOT NULL AND session.lease_until > now
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.state = 'pending' AND chunk.at IS NOT NULL
    AND chunk.seq IS NOT NULL AND chunk.lease = session.lease
  RETURN count(chunk) AS leased
}
CALL (space) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(unembedded)
  WHERE chunk.unembedded = space
  RETURN count(chunk) AS vectors_pending
}
RETURN sessions, messages, chunks, entities, triples, keys, pending - leased AS pending, leased,
       done, failed, summaries_pending, summaries_failed, vectors_pending
