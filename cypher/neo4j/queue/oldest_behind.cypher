// what: find the first session that is not leased and whose summary is due, of a space or of the
//   first space after one (and then from the first space on) that has such a session
// parameters: space (null for all), after (name of a space), now
// returns: session (uid), space, true
MATCH (session:Session) USING INDEX session:Session(summary_state, seq)
WHERE session.summary_state = 'pending' AND session.seq > 0
  AND ($space IS NULL OR session.space = $space)
  AND (session.summary_retry_at IS NULL OR session.summary_retry_at <= $now)
  AND (session.lease_until IS NULL OR session.lease_until <= $now)
RETURN session.uid, session.space, true
ORDER BY session.space <= $after, session.space, session.seq LIMIT 1
