// what: count what sessions would lose with their summaries
// parameters: sessions (uids)
// returns: uid, themes, revisions, [[key uid, sessions that have it]], uids of the first chunks of
//   messages that are done
UNWIND $sessions AS uid
MATCH (session:Session {uid: uid})
CALL (session) {
  OPTIONAL MATCH (session)-[:HAS_KEY]->(key:Key)
  WITH key WHERE key IS NOT NULL
  RETURN collect([key.uid, COUNT { (key)<-[:HAS_KEY]-(:Session) }]) AS keys
}
CALL (session) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.state = 'done' AND chunk.at IS NOT NULL
    AND chunk.seq IS NOT NULL AND chunk.part = 0
  RETURN collect(chunk.uid) AS done
}
RETURN uid, COUNT { (session)-[:HAS_THEME]->(:Theme) },
  COUNT { (session)-[:HAS_REVISION]->(:Revision) }, keys, done
