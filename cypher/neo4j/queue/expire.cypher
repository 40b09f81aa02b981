// what: end the lease of a crashed worker, and count the crash for the chunks it held or else for the
//   summary; chunks or summaries with too many crashes are parked
// parameters: token, until (in microseconds, as read before), counted: [[crashes from now on, state]],
//   reasons and summary_reasons, each by the number of crashes so far (the last one for more)
MATCH (session:Session) USING INDEX session:Session(lease_until)
WHERE session.lease_until IS NOT NULL AND session.lease = $token
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
  AND micros(session.lease_until) = $until
SET session.lease = null, session.lease_until = null
WITH session
CALL (session) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.state = 'pending' AND chunk.at IS NOT NULL
    AND chunk.seq IS NOT NULL AND chunk.lease = $token
  WITH chunk, CASE WHEN chunk.deaths < size($counted) THEN chunk.deaths ELSE
                CASE WHEN chunk.deaths IS NULL THEN 0 ELSE size($counted) - 1 END END AS before
  SET chunk.deaths = $counted[before][0], chunk.state = $counted[before][1],
      chunk.reason = $reasons[before], chunk.lease = null
  RETURN count(chunk) AS held
}
WITH session, held, CASE WHEN session.summary_deaths < size($counted) THEN session.summary_deaths ELSE
    CASE WHEN session.summary_deaths IS NULL THEN 0 ELSE size($counted) - 1 END END AS before
WHERE held = 0 AND session.summary_state = 'pending'
SET session.summary_deaths = $counted[before][0], session.summary_state = $counted[before][1],
    session.summary_reason = $summary_reasons[before]
