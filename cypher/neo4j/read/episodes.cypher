// what: list the episodes of a space, the one that ended last first
// parameters: space, session (uid, or null), skip, limit
// returns: uid, session (id), title, summary, started_at and ended_at in microseconds, reason,
//   chunks [[index, uid, message_id]], cosine (of no vector, 0)
MATCH (theme:Theme) USING INDEX theme:Theme(space, ended_at)
WHERE theme.space = $space AND theme.ended_at IS NOT NULL
  AND ($session IS NULL OR theme.session_uid = $session)
WITH theme ORDER BY theme.ended_at DESC, theme.started_at DESC, theme.uid SKIP $skip LIMIT $limit
MATCH (session:Session {uid: theme.session_uid})
CALL (theme) {
  MATCH (theme)-[covers:COVERS]->(chunk:Chunk)
  RETURN collect([covers.index, chunk.uid, chunk.message_id]) AS chunks
}
RETURN theme.uid, session.id, theme.title, theme.summary, micros(theme.started_at),
       micros(theme.ended_at), theme.reason, chunks, 0.0
ORDER BY theme.ended_at DESC, theme.started_at DESC, theme.uid
