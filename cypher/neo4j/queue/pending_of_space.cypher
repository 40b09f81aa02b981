// what: count the pending chunks of a space, leased or not
// parameters: space
// returns: count
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.space = $space AND chunk.state = 'pending' AND chunk.seq > 0
RETURN count(chunk)
