// what: read the keys, themes and summariser's state of a session
// parameters: session (uid)
// returns: version, state, keys, themes (as parts/notes)
MATCH (session:Session {uid: $session})
// part: notes
RETURN session.version, session.state, keys, themes
