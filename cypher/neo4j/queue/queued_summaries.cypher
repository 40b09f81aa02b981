// what: list the sessions of a space whose summary is due, in order of arrival
// returns: session (uid)
MATCH (session:Session) USING INDEX session:Session(summary_state, seq)
WHERE session.summary_state = 'pending' AND session.seq > 0 AND session.space = $space
WITH session ORDER BY session.seq
RETURN session.uid
