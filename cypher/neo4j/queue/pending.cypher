// what: number of chunks of all spaces that wait or are leased
// parameters: none
// returns: count
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, seq)
WHERE chunk.state = 'pending' AND chunk.seq > 0
RETURN count(chunk)
