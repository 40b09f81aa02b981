// what: end a lease and make the done chunks of its session pending; they keep the name of their
//   extractor, so that the next derivation replaces its results
// parameters: session (uid), token
// returns: one row; none, and nothing is written, if the lease was lost
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
SET session.lease = null, session.lease_until = null, session.renew = true, session.state = '',
    session.summary_state = null, session.summary_attempts = null, session.summary_outages = null,
    session.summary_deaths = null, session.summary_reason = null, session.summary_retry_at = null
WITH session
CALL (session) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.state IN ['pending', 'done']
    AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
  WITH collect(chunk) AS chunks
  FOREACH (chunk IN chunks | SET chunk.lease = null)
  FOREACH (chunk IN [one IN chunks WHERE one.state = 'done'] |
    SET chunk.state = 'pending', chunk.attempts = 0, chunk.outages = 0, chunk.deaths = 0,
        chunk.retry_at = null, chunk.since = timestamp(), chunk.reason = null)
}
RETURN session.uid
