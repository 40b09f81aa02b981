// what: find the session of a space's oldest pending chunk whose session is not leased
// parameters: space, now, patience (outages)
// returns: session (uid), space, whether its summary must be updated first
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.state = 'pending' AND chunk.space = $space AND chunk.seq > 0
  AND (chunk.retry_at IS NULL OR chunk.retry_at <= $now)
WITH chunk ORDER BY chunk.state, chunk.space, chunk.seq
MATCH (session:Session {uid: chunk.session_uid})
WHERE session.lease_until IS NULL OR session.lease_until <= $now
RETURN session.uid, session.space,
  coalesce(session.summary_state = 'pending' AND coalesce(session.summary_outages, 0) < $patience
           AND (session.summary_retry_at IS NULL OR session.summary_retry_at <= $now), false)
LIMIT 1
