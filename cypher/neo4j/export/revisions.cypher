// what: replace the revisions of a session's keys and summary
// parameters: session (uid), version, rows: [properties]
MATCH (session:Session {uid: $session})
SET session.version = $version
WITH session
CALL (session) {
  MATCH (session)-[:HAS_REVISION]->(old:Revision)
  DETACH DELETE old
}
UNWIND $rows AS row
CREATE (session)-[:HAS_REVISION]->(revision:Revision)
SET revision = row
