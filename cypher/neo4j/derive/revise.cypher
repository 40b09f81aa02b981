// what: record a session's current keys and themes as a revision, and delete the oldest revisions
// parameters: session, uid (of the revision), at, extractor, keep (number of revisions)
MATCH (session:Session {uid: $session})
// part: keys_and_themes
CREATE (revision:Revision {uid: $uid})
SET revision.space = session.space, revision.session_uid = session.uid,
    revision.version = session.version, revision.at = $at, revision.extractor = $extractor,
    revision.keys = keys, revision.titles = [theme IN themes | theme[0]],
    revision.summaries = [theme IN themes | theme[1]]
CREATE (session)-[:HAS_REVISION]->(revision)
WITH session
MATCH (session)-[:HAS_REVISION]->(old:Revision)
WHERE old.version <= session.version - $keep
DETACH DELETE old
