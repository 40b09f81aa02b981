// what: link the new themes of a session to the chunks that they cover, in the session's order
// parameters: session (uid), covers: [[theme uid, [chunk uids]]]
UNWIND $covers AS row
MATCH (theme:Theme {uid: row[0]})
CALL (theme, row) {
  UNWIND row[1] AS uid
  MATCH (chunk:Chunk {uid: uid})
  WHERE chunk.session_uid = $session
  WITH chunk ORDER BY chunk.at, chunk.seq
  RETURN collect(chunk) AS chunks
}
WITH theme, chunks WHERE size(chunks) > 0
SET theme.started_at = chunks[0].at, theme.ended_at = chunks[-1].at
WITH theme, chunks
UNWIND range(0, size(chunks) - 1) AS position
WITH theme, position, chunks[position] AS chunk
CREATE (theme)-[:COVERS {index: position}]->(chunk)
