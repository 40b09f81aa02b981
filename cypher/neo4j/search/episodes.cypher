// what: read the episodes among some themes, and those that cover one of some chunks
// parameters: space, themes (uids), chunks (uids), vector (or null)
// returns: as read/episodes, with the similarity of the theme to the vector (0.5 for a cosine of 0)
CALL () {
  UNWIND $themes AS uid
  MATCH (theme:Theme {uid: uid})
  RETURN theme
  UNION
  UNWIND $chunks AS uid
  MATCH (chunk:Chunk {uid: uid})<-[:COVERS]-(theme:Theme)
  RETURN theme
}
WITH DISTINCT theme
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
