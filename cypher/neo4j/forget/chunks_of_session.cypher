// what: read the number of a session's chunks
// parameters: session (uid)
MATCH (session:Session {uid: $session})
RETURN session.chunks
