// what: list chunks whose last attempt failed, in order of arrival
// returns: message_id, session (id), attempts, parked, reason, outages, deaths (crashes)
UNWIND ['pending', 'failed'] AS state
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.space = $space AND chunk.state = state AND chunk.seq > 0 AND chunk.reason IS NOT NULL
WITH chunk ORDER BY chunk.seq
RETURN chunk.message_id, chunk.session, chunk.attempts, chunk.state = 'failed' AS parked, chunk.reason,
       coalesce(chunk.outages, 0), coalesce(chunk.deaths, 0)
