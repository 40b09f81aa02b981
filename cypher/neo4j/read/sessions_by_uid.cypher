// what: read sessions by uid
// parameters: uids
// returns: id, started_at and ended_at in microseconds, messages, chunks, version,
//   keys (heaviest first), themes [[title, summary, uid]]
UNWIND $uids AS uid
MATCH (session:Session {uid: uid})
CALL (session) {
  OPTIONAL MATCH (session)-[has:HAS_KEY]->(key:Key)
  WITH has, key ORDER BY has.weight DESC, key.name
  RETURN collect(key.name) AS keys
}
CALL (session) {
  OPTIONAL MATCH (session)-[:HAS_THEME]->(theme:Theme)
  WITH theme ORDER BY theme.place
  RETURN collect(CASE WHEN theme IS NULL THEN null ELSE [theme.title, theme.summary, theme.uid] END) AS themes
}
RETURN session.id, session.started_at.epochSeconds * 1000000 + session.started_at.microsecond,
       session.ended_at.epochSeconds * 1000000 + session.ended_at.microsecond,
       session.messages, session.chunks, session.version, keys, themes
