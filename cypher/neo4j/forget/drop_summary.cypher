// what: delete the themes and revisions of sessions, and take their keys away
// parameters: sessions (uids)
// returns: for each session: number of themes deleted, uids of its keys
UNWIND $sessions AS uid
MATCH (session:Session {uid: uid})
CALL (session) {
  OPTIONAL MATCH (session)-[:HAS_THEME]->(theme:Theme)
  WITH collect(theme) AS themes
  FOREACH (theme IN themes | DETACH DELETE theme)
  RETURN size(themes) AS themes
}
CALL (session) {
  OPTIONAL MATCH (session)-[:HAS_REVISION]->(revision:Revision)
  WITH collect(revision) AS revisions
  FOREACH (revision IN revisions | DETACH DELETE revision)
}
CALL (session) {
  OPTIONAL MATCH (session)-[has:HAS_KEY]->(key:Key)
  WITH collect(has) AS all, collect(key.uid) AS keys
  FOREACH (has IN all | DELETE has)
  RETURN keys
}
RETURN themes, keys
