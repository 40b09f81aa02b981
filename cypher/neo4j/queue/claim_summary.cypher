// what: lease a session to one worker for its summary only
// parameters: session (uid), token, now, until, context
// returns: as parts/lease, without chunks; no row if another worker claimed the session first
MATCH (session:Session {uid: $session})
// This write takes the lock, so that the lease is read and written atomically.
SET session.claims = session.claims + 1
WITH session
WHERE (session.lease_until IS NULL OR session.lease_until <= $now)
  AND session.summary_state = 'pending'
  AND (session.summary_retry_at IS NULL OR session.summary_retry_at <= $now)
SET session.lease = $token, session.lease_until = $until
WITH session, [] AS chunks
// part: lease
