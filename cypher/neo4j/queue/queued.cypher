// what: list the sessions of a space with pending chunks, in the order of their oldest such chunk
// returns: session (uid)
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.space = $space AND chunk.state = 'pending' AND chunk.seq > 0
WITH chunk.session_uid AS session, min(chunk.seq) AS oldest
RETURN session ORDER BY oldest
