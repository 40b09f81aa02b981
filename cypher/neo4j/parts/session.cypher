// what: a session with its keys and themes, for people to read
// takes: session
// returns: id, started_at and ended_at in microseconds, messages, chunks, version,
//   keys (heaviest first), themes [[title, summary, uid]]
// part: keys_and_themes
RETURN session.id, micros(session.started_at), micros(session.ended_at), session.messages,
       session.chunks, session.version, keys, themes
