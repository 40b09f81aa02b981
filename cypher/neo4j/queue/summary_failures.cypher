// what: list summaries whose last attempt failed, in order of arrival
// returns: message_id (null), session (id), attempts, parked, reason, outages, deaths (crashes)
UNWIND ['pending', 'failed'] AS state
MATCH (session:Session) USING INDEX session:Session(summary_state, seq)
WHERE session.summary_state = state AND session.seq > 0 AND session.space = $space
  AND session.summary_reason IS NOT NULL
WITH session ORDER BY session.seq
RETURN null, session.id, coalesce(session.summary_attempts, 0), session.summary_state = 'failed',
       session.summary_reason, coalesce(session.summary_outages, 0), coalesce(session.summary_deaths, 0)
