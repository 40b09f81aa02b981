// what: read those chunks that still exist
// parameters: chunks (uids)
// returns: uid, at, length, whether it was read, tried or leased, so that others may depend on it
UNWIND $chunks AS uid
MATCH (chunk:Chunk {uid: uid})
RETURN chunk.uid, chunk.at, chunk.length,
  chunk.state <> 'pending' OR chunk.extractor IS NOT NULL OR chunk.lease IS NOT NULL
  OR chunk.attempts > 0 OR coalesce(chunk.outages, 0) > 0
