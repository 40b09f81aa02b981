// what: the session of the oldest pending chunk that nobody reads now
// parameters: now
// returns: session (uid)
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, seq)
WHERE chunk.state = 'pending' AND chunk.seq > 0
  AND (chunk.retry_at IS NULL OR chunk.retry_at <= $now)
WITH chunk ORDER BY chunk.state, chunk.seq
MATCH (session:Session {uid: chunk.session_uid})
WHERE session.lease_until IS NULL OR session.lease_until <= $now
RETURN session.uid LIMIT 1
