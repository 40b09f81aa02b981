// what: read the texts of a session's chunks, with their speakers
// parameters: session (uid)
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, at, seq)
WHERE chunk.session_uid = $session AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
RETURN chunk.uid, coalesce(chunk.speaker, '') + ' ' + chunk.text
