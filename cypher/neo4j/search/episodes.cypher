// what: find the episodes nearest to a vector, and read them with those that cover one of some chunks
// parameters: space, theme (as in search/candidates), chunks (uids), vector (or null)
// returns: as read/episodes, with the similarity of the theme to the vector (0.5 for a cosine of 0)
WITH $theme AS source
CALL (source) {
  WITH source WHERE source.index IS NOT NULL
  CALL db.index.vector.queryNodes(source.index, $theme.fetch, $vector) YIELD node, score
  WITH node, score ORDER BY score DESC LIMIT toInteger($theme.limit)
  RETURN collect(node) AS indexed
}
CALL (source) {
  WITH source WHERE source.after IS NOT NULL
  MATCH (node:Theme) USING INDEX node:Theme(space, seq)
  WHERE node.space = $space AND node.seq > source.after
  WITH node, vector.similarity.cosine(node.embedding, $vector) AS score
  WHERE score > 0.5
  WITH node, score ORDER BY score DESC, node.seq LIMIT toInteger($theme.limit)
  RETURN collect(node) AS compared
}
CALL (indexed, compared) {
  UNWIND indexed + compared AS theme
  RETURN theme
  UNION
  UNWIND $chunks AS uid
  MATCH (chunk:Chunk {uid: uid})<-[:COVERS]-(theme:Theme)
  RETURN theme
}
WITH theme
WHERE theme.space = $space AND theme.ended_at IS NOT NULL
MATCH (session:Session {uid: theme.session_uid})
CALL (theme) {
  MATCH (theme)-[covers:COVERS]->(chunk:Chunk)
  RETURN collect([covers.index, chunk.uid, chunk.message_id]) AS chunks
}
RETURN theme.uid, session.id, theme.title, theme.summary,
       theme.started_at.epochSeconds * 1000000 + theme.started_at.microsecond,
       theme.ended_at.epochSeconds * 1000000 + theme.ended_at.microsecond, theme.reason, chunks,
       coalesce(vector.similarity.cosine(theme.embedding, $vector), 0.5)
ORDER BY theme.uid
