// what: give leased chunks back after a failed attempt, parking those that failed too often
// parameters: session (uid), token, chunks (uids), reason, park_after, retry_at
// returns: one row; none, and nothing written, if the lease is lost
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
SET session.lease = null, session.lease_until = null
WITH session
CALL () {
  UNWIND $chunks AS uid
  MATCH (chunk:Chunk {uid: uid})
  SET chunk.state = CASE WHEN chunk.attempts + 1 >= $park_after THEN 'failed' ELSE 'pending' END,
      chunk.attempts = chunk.attempts + 1, chunk.reason = $reason, chunk.retry_at = $retry_at,
      chunk.lease = null
}
RETURN session.uid
