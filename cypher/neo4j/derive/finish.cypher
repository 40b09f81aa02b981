// what: mark the chunks done, end the lease, and count what was written
// parameters: space, session (uid), chunks (uids), extractor, revised, state (the summariser's),
//   triples, length, themes (what the totals of the space grow by)
// returns: triples and themes in the space, and whether each has its own vector index
MATCH (session:Session {uid: $session})
SET session.lease = null, session.lease_until = null
FOREACH (_ IN CASE WHEN $revised THEN [1] ELSE [] END |
  SET session.version = session.version + 1, session.renew = false)
FOREACH (_ IN CASE WHEN $revised OR $state <> '' THEN [1] ELSE [] END |
  SET session.state = $state)
WITH session
CALL () {
  UNWIND $chunks AS uid
  MATCH (chunk:Chunk {uid: uid})
  SET chunk.state = 'done', chunk.lease = null, chunk.reason = null, chunk.retry_at = null,
      chunk.extractor = $extractor, chunk.attempts = chunk.attempts + 1, chunk.outages = 0
}
MATCH (facts:SpaceFacts {name: $space})
SET facts.triples = facts.triples + $triples, facts.length = facts.length + $length,
    facts.themes = facts.themes + $themes
WITH facts
RETURN facts.triples, facts.triple_indexed, facts.themes, facts.theme_indexed
