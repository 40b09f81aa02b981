// what: lease the pending chunks of a session to one worker
// parameters: session (uid), token, now, until, limit, context
// returns: as parts/lease; no row if another worker claimed the session first
MATCH (session:Session {uid: $session})
// This write takes the lock, so that the lease is read and written atomically.
SET session.claims = session.claims + 1
WITH session
WHERE session.lease_until IS NULL OR session.lease_until <= $now
CALL (session) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.state = 'pending' AND chunk.at IS NOT NULL
    AND chunk.seq IS NOT NULL AND (chunk.retry_at IS NULL OR chunk.retry_at <= $now)
  WITH chunk ORDER BY chunk.session_uid, chunk.state, chunk.at, chunk.seq LIMIT $limit
  RETURN collect(chunk) AS ready
}
WITH session, ready
WHERE size(ready) > 0
// As in stores/batch_size.py: each failed attempt reduces the batch to a quarter, and a batch
// contains no chunk that failed more often than its first.
WITH session, ready,
     [chunk IN ready | chunk.attempts + coalesce(chunk.outages, 0) / 3
                       + CASE WHEN coalesce(chunk.deaths, 0) >= 2 THEN 16 ELSE 0 END] AS failures
WITH session, ready, failures, failures[0] AS tries
WITH session, ready, failures, tries,
     CASE WHEN tries > 15 THEN 1 ELSE toInteger($limit / 4 ^ tries) END AS most
WITH session, ready[..CASE WHEN most < 1 THEN 1 ELSE most END] AS ready, failures, tries
WITH session, ready,
     [place IN range(0, size(ready) - 1) WHERE failures[place] > tries | place][0] AS suspect
WITH session, ready[..coalesce(suspect, size(ready))] AS chunks
SET session.lease = $token, session.lease_until = $until
FOREACH (chunk IN chunks | SET chunk.lease = $token)
// part: lease
