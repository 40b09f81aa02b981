// what: make the parked chunks of all spaces (or of one, whose name is then compared) pending again
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.state = 'failed' AND chunk.space IS NOT NULL AND chunk.seq IS NOT NULL
WITH collect(chunk) AS chunks
FOREACH (chunk IN chunks |
  SET chunk.state = 'pending', chunk.attempts = 0, chunk.outages = 0, chunk.deaths = 0,
      chunk.retry_at = null, chunk.since = timestamp())
RETURN size(chunks)
