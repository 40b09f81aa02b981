// what: find sessions whose summary lacks turns that were read; each statement ends with a semicolon
// parameters: none
// returns: nothing
CREATE INDEX session_behind IF NOT EXISTS FOR (n:Session) ON (n.summary_state, n.seq);

// What a session that is read again had is not to be gone on from.
MATCH (session:Session) WHERE session.renew SET session.state = '';

// Turns that a model could not sum up so far waited for the session's next turn.
MATCH (session:Session)
WHERE session.state STARTS WITH '{"model":1,"unread":[[' AND session.summary_state IS NULL
SET session.summary_state = 'pending';
