// what: record a session's current keys and themes as a revision, and delete the oldest revisions
// parameters: session, uid (of the revision), at, extractor, keep (number of revisions)
// returns: nothing
MATCH (session:Session {uid: $session})
CALL (session) {
  OPTIONAL MATCH (session)-[has:HAS_KEY]->(key:Key)
  WITH has, key ORDER BY has.weight DESC, key.name
  RETURN collect(key.name) AS keys
}
CALL (session) {
  OPTIONAL MATCH (session)-[:HAS_THEME]->(theme:Theme)
  WITH theme ORDER BY theme.place
  RETURN collect(theme.title) AS titles, collect(theme.summary) AS summaries
}
CREATE (revision:Revision {uid: $uid})
SET revision.space = session.space, revision.session_uid = session.uid,
    revision.version = session.version, revision.at = $at, revision.extractor = $extractor,
    revision.keys = keys, revision.titles = titles, revision.summaries = summaries
CREATE (session)-[:HAS_REVISION]->(revision)
WITH session
MATCH (session)-[:HAS_REVISION]->(old:Revision)
WHERE old.version <= session.version - $keep
DETACH DELETE old
