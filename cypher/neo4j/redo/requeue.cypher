// what: make the done chunks of every session pending that one of some extractors has read a part of;
//   the chunks keep the name, by which the next derivation knows that there is something to replace
// parameters: space, extractors
// returns: how many
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, state, seq)
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
      chunk.retry_at = null,
      chunk.reason = null, chunk.lease = null)
RETURN size(chunks)
