// what: find the session of a space's oldest pending chunk whose session is not leased
// parameters: space, now, patience (outages)
// returns: session (uid), whether its summary must be updated first
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, state, seq)
WHERE chunk.space = $space AND chunk.state = 'pending' AND chunk.seq > 0
  AND (chunk.retry_at IS NULL OR chunk.retry_at <= $now)
WITH chunk ORDER BY chunk.space, chunk.state, chunk.seq
MATCH (session:Session {uid: chunk.session_uid})
WHERE session.lease_until IS NULL OR session.lease_until <= $now
RETURN session.uid,
  coalesce(session.summary_state = 'pending' AND coalesce(session.summary_outages, 0) < $patience
           AND (session.summary_retry_at IS NULL OR session.summary_retry_at <= $now), false)
LIMIT 1
