// what: read the chunks of a message by its id; the newest message if several have it
// parameters: space, id, session (uid or null)
// returns: session, speaker, at in microseconds, texts in order, whether all are enriched,
//   role, metadata (JSON), tags, raw (JSON), expires in microseconds, written by
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, message_id)
WHERE chunk.space = $space AND chunk.message_id = $id
  AND ($session IS NULL OR chunk.session_uid = $session)
MATCH (session:Session {uid: chunk.session_uid})
WITH session, chunk ORDER BY chunk.part
WITH session, collect(chunk) AS chunks
WITH session, chunks, chunks[0] AS first ORDER BY first.at DESC, session.seq DESC LIMIT 1
RETURN session.id, first.speaker, micros(first.at), [chunk IN chunks | chunk.text],
       all(chunk IN chunks WHERE chunk.state = 'done'), first.role, first.metadata, first.tags,
       first.raw, micros(first.expires), first.written_by
