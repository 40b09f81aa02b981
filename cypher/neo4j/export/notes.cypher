// what: read the keys, themes and summariser's state of a session
// parameters: session (uid)
// returns: version, state, [[key, weight]], [[title, summary]]
MATCH (session:Session {uid: $session})
CALL (session) {
  MATCH (session)-[has:HAS_KEY]->(key:Key)
  WITH has, key ORDER BY has.weight DESC, key.name
  RETURN collect([key.name, has.weight]) AS keys
}
CALL (session) {
  MATCH (session)-[:HAS_THEME]->(theme:Theme)
  WITH theme ORDER BY theme.place
  RETURN collect([theme.title, theme.summary]) AS themes
}
RETURN session.version, session.state, keys, themes
