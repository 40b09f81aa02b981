// what: read whether all chunks of a session are done, and who read them
// parameters: session (uid)
// returns: whether all are done, extractor
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, at, seq)
WHERE chunk.session_uid = $session AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
RETURN count(CASE WHEN chunk.state <> 'done' THEN 1 END) = 0, max(chunk.extractor)
