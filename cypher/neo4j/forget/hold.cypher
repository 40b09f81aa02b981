// what: lock a session that is to lose messages
// parameters: session (uid)
// returns: number of its chunks; no row if there is no such session
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
RETURN session.chunks
