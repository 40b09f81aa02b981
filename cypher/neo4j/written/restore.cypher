// what: create a version of what writers keep, as an export has it (Profile replaces Procedure for
//   profiles)
// parameters: space, properties, at, sources: [[session uid, message id]], before (uid, or null)
CREATE (node:Written:Procedure {uid: $properties.uid})
SET node += $properties, node.space = $space, node.at = $at
WITH node
CALL (node) {
  UNWIND $sources AS source
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, message_id)
  WHERE chunk.space = $space AND chunk.message_id = source[1] AND chunk.session_uid = source[0]
  CREATE (node)-[:EVIDENCE]->(chunk)
}
CALL (node) {
  UNWIND CASE WHEN $before IS NULL THEN [] ELSE [$before] END AS uid
  MATCH (old:Written {uid: uid})
  CREATE (node)-[:SUPERSEDES]->(old)
}
