// what: mark chunks as done, release the lease unless it is held, record whether a session summary
//   is due, and update the totals of the space
// parameters: space, session (uid), chunks (uids), extractor, held, replaced (keys or themes were),
//   revised (a new version is due), state (the summariser's), summary_due (whether a summary is due,
//   null to leave it unchanged), triples, length, themes (increases of the space's totals)
// returns: triples and themes in the space, and whether each has a vector index of its own
MATCH (session:Session {uid: $session})
FOREACH (_ IN CASE WHEN $held THEN [] ELSE [1] END |
  SET session.lease = null, session.lease_until = null)
FOREACH (_ IN CASE WHEN $revised THEN [1] ELSE [] END |
  SET session.version = session.version + 1, session.renew = false)
FOREACH (_ IN CASE WHEN $replaced OR $state <> '' THEN [1] ELSE [] END |
  SET session.state = $state)
// A held lease means that the summary lacks new turns after a failure, so it is due again. If the
// session was revised nevertheless, there is progress and the failed attempts no longer count.
FOREACH (_ IN CASE WHEN $summary_due THEN [1] ELSE [] END |
  SET session.summary_attempts =
        CASE WHEN $held AND $revised THEN 0 ELSE coalesce(session.summary_attempts, 0) END,
      session.summary_state =
        CASE WHEN $held THEN 'pending' ELSE coalesce(session.summary_state, 'pending') END)
FOREACH (_ IN CASE WHEN $summary_due = false THEN [1] ELSE [] END |
  SET session.summary_state = null, session.summary_attempts = null,
      session.summary_outages = null, session.summary_deaths = null,
      session.summary_reason = null, session.summary_retry_at = null)
WITH session
CALL () {
  UNWIND $chunks AS uid
  MATCH (chunk:Chunk {uid: uid})
  SET chunk.state = 'done', chunk.lease = null, chunk.reason = null, chunk.retry_at = null,
      chunk.extractor = $extractor, chunk.attempts = chunk.attempts + 1, chunk.outages = 0,
      chunk.deaths = 0
}
MATCH (facts:SpaceFacts {name: $space})
SET facts.triples = facts.triples + $triples, facts.length = facts.length + $length,
    facts.themes = facts.themes + $themes
WITH facts
RETURN facts.triples, facts.triple_indexed, facts.themes, facts.theme_indexed
