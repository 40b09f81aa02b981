// what: read the number of a session's chunks
// parameters: session (uid)
// returns: chunks
MATCH (session:Session {uid: $session})
RETURN session.chunks
