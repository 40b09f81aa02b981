// what: delete a session that has no chunks any longer
// parameters: session (uid)
MATCH (session:Session {uid: $session})
DETACH DELETE session
