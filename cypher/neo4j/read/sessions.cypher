// what: list sessions, newest first
// returns: as parts/session
MATCH (session:Session) USING INDEX session:Session(space, ended_at)
WHERE session.space = $space AND session.ended_at IS NOT NULL
WITH session ORDER BY session.ended_at DESC, session.seq DESC SKIP $skip LIMIT $limit
// part: session
ORDER BY session.ended_at DESC, session.seq DESC
