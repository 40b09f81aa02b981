// what: tell how long the oldest pending chunk has been pending
// parameters: space (null for all)
// returns: seconds; no row if none is pending
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.state = 'pending' AND chunk.space >= coalesce($space, '') AND chunk.seq IS NOT NULL
  AND ($space IS NULL OR chunk.space = $space)
WITH chunk ORDER BY chunk.seq LIMIT 1
// Arrival numbers are microseconds; what became pending again says since when, in milliseconds.
RETURN (timestamp() - coalesce(chunk.since, chunk.seq / 1000)) / 1000.0 AS seconds
