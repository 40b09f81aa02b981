// what: end the leases of sessions and make their done chunks pending; these keep the name of their
//   extractor, so that the next derivation replaces its results
// parameters: sessions (uids), token (of the lease that they must have, or null)
// returns: number of chunks of each session; no row for one whose lease was lost
UNWIND $sessions AS uid
MATCH (session:Session {uid: uid})
SET session.claims = session.claims + 1
WITH session
WHERE $token IS NULL OR session.lease = $token
SET session.lease = null, session.lease_until = null, session.renew = true, session.state = '',
    session.summary_state = null, session.summary_attempts = null, session.summary_outages = null,
    session.summary_deaths = null, session.summary_reason = null, session.summary_retry_at = null
WITH session
CALL (session) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.state IN ['pending', 'done']
    AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
  WITH collect(chunk) AS chunks, [chunk IN collect(chunk) WHERE chunk.state = 'done'] AS done
  FOREACH (chunk IN chunks | SET chunk.lease = null)
  FOREACH (chunk IN done |
    SET chunk.state = 'pending', chunk.attempts = 0, chunk.outages = 0, chunk.deaths = 0,
        chunk.retry_at = null, chunk.since = timestamp(), chunk.reason = null)
  RETURN size(done) AS requeued
}
RETURN requeued
