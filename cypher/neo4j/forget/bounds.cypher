// what: bring the counts, times and last chunk of a session up to date after it lost chunks, and
//   drop the summaries that applications gave: they may quote what is gone
// parameters: session (uid)
// returns: number of chunks that held such a summary
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, at, seq)
WHERE chunk.session_uid = $session AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
WITH chunk ORDER BY chunk.session_uid, chunk.at, chunk.seq
WITH count(chunk) AS chunks, min(chunk.at) AS first, max(chunk.at) AS last,
     count(CASE WHEN chunk.part = 0 THEN 1 END) AS messages, collect(chunk.uid)[-1] AS tail,
     collect(CASE WHEN chunk.facts CONTAINS ',"summary":' THEN chunk END) AS summing
MATCH (session:Session {uid: $session})
SET session.chunks = chunks, session.messages = messages, session.started_at = first,
    session.ended_at = last, session.tail = tail
// The summary is the last field of the JSON, and no text in JSON has an unescaped quotation mark.
FOREACH (chunk IN summing | SET chunk.facts = split(chunk.facts, ',"summary":')[0] + '}')
RETURN size(summing)
