// what: list the sessions that had begun by a time, newest first, as far as they had gone by then
// parameters: space, until, skip, limit, ids (of the only sessions that are read, or null)
// returns: as parts/session; keys and themes of a session that went on are those of its last revision
MATCH (session:Session) USING INDEX session:Session(space, ended_at)
WHERE session.space = $space AND session.ended_at IS NOT NULL AND session.started_at <= $until
  AND ($ids IS NULL OR session.id IN $ids)
CALL (session) {
  MATCH (session)-[:HAS_CHUNK]->(chunk:Chunk)
  WHERE chunk.at <= $until
  RETURN count(chunk) AS chunks, sum(CASE WHEN chunk.part = 0 THEN 1 ELSE 0 END) AS messages,
         max(chunk.at) AS ended_at
}
WITH session, chunks, messages, ended_at WHERE chunks > 0
ORDER BY ended_at DESC, session.seq DESC SKIP $skip LIMIT $limit
CALL (session) {
  OPTIONAL MATCH (session)-[:HAS_REVISION]->(revision:Revision)
  WHERE revision.at <= $until
  WITH revision ORDER BY revision.version DESC LIMIT 1
  RETURN coalesce(revision.version, 0) AS version, coalesce(revision.keys, []) AS then_keys,
         [i IN range(0, size(coalesce(revision.titles, [])) - 1)
          | [revision.titles[i], revision.summaries[i]]] AS then_themes
}
// part: keys_and_themes
WITH *, session.ended_at <= $until AS over
RETURN session.id, micros(session.started_at), micros(ended_at), messages, chunks,
       CASE WHEN over THEN session.version ELSE version END,
       CASE WHEN over THEN keys ELSE then_keys END, CASE WHEN over THEN themes ELSE then_themes END
ORDER BY ended_at DESC, session.seq DESC
