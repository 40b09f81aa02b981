// what: make the done chunks of all sessions pending in which some extractors processed a chunk;
//   the chunks keep the extractor's name, so that the next derivation replaces its results
// parameters: space, extractors
// returns: number of chunks
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
WHERE chunk.space = $space AND chunk.state = 'done' AND chunk.seq > 0
  AND chunk.extractor IN $extractors
WITH DISTINCT chunk.session_uid AS uid ORDER BY uid
MATCH (session:Session {uid: uid})
SET session.claims = session.claims + 1, session.lease = null, session.lease_until = null,
    session.renew = true, session.state = '', session.summary_state = null,
    session.summary_attempts = null, session.summary_outages = null, session.summary_deaths = null,
    session.summary_reason = null, session.summary_retry_at = null
WITH collect(session.uid) AS uids
UNWIND uids AS uid
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
WHERE chunk.session_uid = uid AND chunk.state = 'done' AND chunk.at IS NOT NULL
  AND chunk.seq IS NOT NULL
WITH collect(chunk) AS chunks
FOREACH (chunk IN chunks |
  SET chunk.state = 'pending', chunk.attempts = 0, chunk.outages = 0, chunk.deaths = 0,
      chunk.retry_at = null, chunk.since = timestamp(),
      chunk.reason = null, chunk.lease = null)
RETURN size(chunks)
