// what: count the pending chunks of all spaces, leased or not
// parameters: none
// returns: count
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, seq)
WHERE chunk.state = 'pending' AND chunk.seq > 0
RETURN count(chunk)
