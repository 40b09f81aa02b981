// what: make parked summaries pending again
// parameters: space (null for all)
MATCH (session:Session) USING INDEX session:Session(summary_state, seq)
WHERE session.summary_state = 'failed' AND session.seq > 0
  AND ($space IS NULL OR session.space = $space)
WITH collect(session) AS sessions
FOREACH (session IN sessions |
  SET session.summary_state = 'pending', session.summary_attempts = 0, session.summary_outages = 0,
      session.summary_deaths = 0, session.summary_retry_at = null)
RETURN size(sessions)
