// what: count the sessions whose summary is due, leased or not
// parameters: space (null for all)
MATCH (session:Session) USING INDEX session:Session(summary_state, seq)
WHERE session.summary_state = 'pending' AND session.seq > 0
  AND ($space IS NULL OR session.space = $space)
RETURN count(session)
