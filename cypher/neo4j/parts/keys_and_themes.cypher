// what: the names of a session's keys, heaviest first, and its themes in order
// takes: session
// gives: keys, themes [[title, summary, uid]]
CALL (session) {
  OPTIONAL MATCH (session)-[has:HAS_KEY]->(key:Key)
  WITH has, key ORDER BY has.weight DESC, key.name
  RETURN collect(key.name) AS keys
}
CALL (session) {
  MATCH (session)-[:HAS_THEME]->(theme:Theme)
  WITH theme ORDER BY theme.place
  RETURN collect([theme.title, theme.summary, theme.uid]) AS themes
}
