// what: bring the counts, times and last chunk of a session up to date after it lost chunks
// parameters: session (uid)
// returns: nothing
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, at, seq)
WHERE chunk.session_uid = $session AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
WITH chunk ORDER BY chunk.session_uid, chunk.at, chunk.seq
WITH count(chunk) AS chunks, min(chunk.at) AS first, max(chunk.at) AS last,
     count(CASE WHEN chunk.part = 0 THEN 1 END) AS messages, collect(chunk.uid)[-1] AS tail
MATCH (session:Session {uid: $session})
SET session.chunks = chunks, session.messages = messages, session.started_at = first,
    session.ended_at = last, session.tail = tail
