// what: find the first session that is not leased and whose summary is due
// parameters: space (null for all), now
// returns: session (uid), true
MATCH (session:Session) USING INDEX session:Session(summary_state, seq)
WHERE session.summary_state = 'pending' AND session.seq > 0
  AND ($space IS NULL OR session.space = $space)
  AND (session.summary_retry_at IS NULL OR session.summary_retry_at <= $now)
  AND (session.lease_until IS NULL OR session.lease_until <= $now)
RETURN session.uid, true ORDER BY session.summary_state, session.seq LIMIT 1
