// what: count the done chunks of a space by extractor
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.space = $space AND chunk.state = 'done' AND chunk.seq > 0
  AND chunk.extractor IS NOT NULL
RETURN chunk.extractor, count(chunk)
