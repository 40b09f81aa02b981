// what: create a version of what writers keep, with its sources and the version it supersedes
//   (Profile replaces Procedure for profiles)
// parameters: space, session (uid), properties, chunks (uids), before (uid, or null)
// returns: one row; none, and nothing is written, if no source is in the session
CALL () {
  UNWIND $chunks AS uid
  MATCH (chunk:Chunk {uid: uid})
  WHERE chunk.session_uid = $session
  WITH chunk ORDER BY chunk.at, chunk.seq
  RETURN collect(chunk) AS chunks
}
WITH chunks WHERE size(chunks) > 0
CREATE (node:Written:Procedure {uid: $properties.uid})
SET node += $properties, node.space = $space, node.at = chunks[-1].at
FOREACH (chunk IN chunks | CREATE (node)-[:EVIDENCE]->(chunk))
WITH node
CALL (node) {
  UNWIND CASE WHEN $before IS NULL THEN [] ELSE [$before] END AS uid
  MATCH (old:Written {uid: uid})
  CREATE (node)-[:SUPERSEDES]->(old)
}
RETURN node.uid
