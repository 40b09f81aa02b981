// what: end the lease of a crashed worker, count the crash for the chunks it held or else for the
//   summary, and park chunks or summaries with too many crashes
// parameters: token, until (in microseconds, as read before), most (crashes), reasons and
//   summary_reasons (one for each number of crashes)
// returns: nothing
MATCH (session:Session) USING INDEX session:Session(lease_until)
WHERE session.lease_until IS NOT NULL AND session.lease = $token
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
  AND session.lease_until.epochSeconds * 1000000 + session.lease_until.microsecond = $until
SET session.lease = null, session.lease_until = null
WITH session
CALL (session) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.state = 'pending' AND chunk.at IS NOT NULL
    AND chunk.seq IS NOT NULL AND chunk.lease = $token
  WITH chunk, coalesce(chunk.deaths, 0) + 1 AS deaths
  SET chunk.deaths = deaths, chunk.reason = $reasons[deaths - 1], chunk.lease = null,
      chunk.state = CASE WHEN deaths >= $most THEN 'failed' ELSE 'pending' END
  RETURN count(chunk) AS held
}
WITH session, held, coalesce(session.summary_deaths, 0) + 1 AS deaths
WHERE held = 0 AND session.summary_state = 'pending'
SET session.summary_deaths = deaths, session.summary_reason = $summary_reasons[deaths - 1],
    session.summary_state = CASE WHEN deaths >= $most THEN 'failed' ELSE 'pending' END
