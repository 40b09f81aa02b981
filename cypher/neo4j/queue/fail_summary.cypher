// what: end a lease after a failed attempt at a session summary and park one that failed too often;
//   an outage is not an attempt and makes the whole session wait, which preserves the order
// parameters: session (uid), token, reason, park_after, retry_at, outage
// returns: one row; none, and nothing is written, if the lease was lost
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
WITH session, coalesce(session.summary_attempts, 0) + CASE WHEN $outage THEN 0 ELSE 1 END AS attempts,
     CASE WHEN $outage THEN coalesce(session.summary_outages, 0) + 1 ELSE 0 END AS outages
SET session.lease = null,
    session.lease_until = CASE WHEN $outage THEN $retry_at ELSE null END,
    session.summary_attempts = attempts, session.summary_outages = outages,
    session.summary_reason = $reason, session.summary_retry_at = $retry_at,
    session.summary_state = CASE WHEN NOT $outage AND attempts >= $park_after THEN 'failed' ELSE 'pending' END
RETURN session.uid
