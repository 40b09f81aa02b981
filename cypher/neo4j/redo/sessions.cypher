// what: list the sessions in which some extractors processed a chunk
// returns: session (uid), in the order of their oldest such chunk
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.space = $space AND chunk.state = 'done' AND chunk.seq > 0
  AND chunk.extractor IN $extractors
WITH chunk.session_uid AS session, min(chunk.seq) AS oldest
RETURN session ORDER BY oldest
