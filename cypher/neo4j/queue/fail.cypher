// what: return leased chunks to the queue after a failed attempt and park those that failed too
//   often; an outage is not an attempt and makes the whole session wait, which preserves the order
// parameters: session (uid), token, chunks (uids), reason, park_after, retry_at, outage
// returns: one row; none, and nothing is written, if the lease was lost
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
SET session.lease = null,
    session.lease_until = CASE WHEN $outage THEN $retry_at ELSE null END
WITH session
CALL () {
  UNWIND $chunks AS uid
  MATCH (chunk:Chunk {uid: uid})
  SET chunk.attempts = chunk.attempts + CASE WHEN $outage THEN 0 ELSE 1 END,
      chunk.outages = CASE WHEN $outage THEN coalesce(chunk.outages, 0) + 1 ELSE 0 END,
      chunk.reason = $reason, chunk.retry_at = $retry_at, chunk.lease = null
  WITH chunk
  SET chunk.state =
    CASE WHEN NOT $outage AND chunk.attempts >= $park_after THEN 'failed' ELSE 'pending' END
}
RETURN session.uid
