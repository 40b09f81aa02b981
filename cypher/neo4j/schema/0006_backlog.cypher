// what: find sessions whose summary lacks enriched turns; each statement ends with a semicolon
CREATE INDEX session_behind IF NOT EXISTS FOR (n:Session) ON (n.summary_state, n.seq);

// A session that is extracted again must not continue from its old summariser state.
MATCH (session:Session) WHERE session.renew SET session.state = '';

// Before this version, turns that a model failed to summarise waited for the session's next turn.
MATCH (session:Session)
WHERE session.state STARTS WITH '{"model":1,"unread":[[' AND session.summary_state IS NULL
SET session.summary_state = 'pending';
