// what: find the session of the oldest pending chunk, whose session is not leased, of the first of
//   some spaces that has one (or of one space, whose name is then compared)
// parameters: space, after and until (names of spaces: those after the first up to the second, or with an
//   until of null all after the first), now, patience (outages)
// returns: session (uid), space, whether its summary must be updated first
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.state = 'pending' AND chunk.space > $after AND chunk.seq IS NOT NULL
  AND ($until IS NULL OR chunk.space <= $until)
  AND (chunk.retry_at IS NULL OR chunk.retry_at <= $now)
WITH chunk ORDER BY chunk.state, chunk.space, chunk.seq
MATCH (session:Session {uid: chunk.session_uid})
WHERE session.lease_until IS NULL OR session.lease_until <= $now
RETURN session.uid, session.space,
  coalesce(session.summary_state = 'pending' AND coalesce(session.summary_outages, 0) < $patience
           AND (session.summary_retry_at IS NULL OR session.summary_retry_at <= $now), false)
LIMIT 1
