// what: make the parked chunks of a space pending again
// parameters: space
// returns: number of chunks
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.space = $space AND chunk.state = 'failed' AND chunk.seq > 0
WITH collect(chunk) AS chunks
FOREACH (chunk IN chunks |
  SET chunk.state = 'pending', chunk.attempts = 0, chunk.outages = 0, chunk.deaths = 0,
      chunk.retry_at = null, chunk.since = timestamp())
RETURN size(chunks)
