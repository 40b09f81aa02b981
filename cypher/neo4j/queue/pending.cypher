// what: count the pending chunks of all spaces, leased or not
// parameters: none
// returns: count
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.state = 'pending' AND chunk.space IS NOT NULL AND chunk.seq IS NOT NULL
RETURN count(chunk)
