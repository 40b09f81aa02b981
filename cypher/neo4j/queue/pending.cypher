// what: count the pending chunks of all spaces (or of one, whose name is then compared), leased or not
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.state = 'pending' AND chunk.space IS NOT NULL AND chunk.seq IS NOT NULL
RETURN count(chunk)
