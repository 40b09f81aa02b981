// what: mark the chunks done, end the lease unless it is held, note whether the session's summary is
//   behind, and count what was written
// parameters: space, session (uid), chunks (uids), extractor, held, replaced (keys or themes),
//   revised (so that it is a version), state (the summariser's), behind (null to leave it), triples, length,
//   themes (what the totals of the space grow by)
// returns: triples and themes in the space, and whether each has its own vector index
MATCH (session:Session {uid: $session})
FOREACH (_ IN CASE WHEN $held THEN [] ELSE [1] END |
  SET session.lease = null, session.lease_until = null)
FOREACH (_ IN CASE WHEN $revised THEN [1] ELSE [] END |
  SET session.version = session.version + 1, session.renew = false)
FOREACH (_ IN CASE WHEN $replaced OR $state <> '' THEN [1] ELSE [] END |
  SET session.state = $state)
// What is held has news: it is tried again; what was revised progresses and is not at fault.
FOREACH (_ IN CASE WHEN $behind THEN [1] ELSE [] END |
  SET session.summary_attempts =
        CASE WHEN $held AND $revised THEN 0 ELSE coalesce(session.summary_attempts, 0) END,
      session.summary_state =
        CASE WHEN $held THEN 'pending' ELSE coalesce(session.summary_state, 'pending') END)
FOREACH (_ IN CASE WHEN $behind = false THEN [1] ELSE [] END |
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
