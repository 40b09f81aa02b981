// what: lease a session to one worker for its summary only
// parameters: session (uid), token, now, until
// returns: as claim, without chunks; no row if another worker claimed the session first
MATCH (session:Session {uid: $session})
// This write takes the lock, so that the lease is read and written atomically.
SET session.claims = session.claims + 1
WITH session
WHERE (session.lease_until IS NULL OR session.lease_until <= $now)
  AND session.summary_state = 'pending'
  AND (session.summary_retry_at IS NULL OR session.summary_retry_at <= $now)
SET session.lease = $token, session.lease_until = $until
WITH session
CALL (session) {
  OPTIONAL MATCH (session)-[has:HAS_KEY]->(key:Key)
  WITH has, key ORDER BY has.weight DESC, key.name
  RETURN collect([key.name, has.weight]) AS keys
}
CALL (session) {
  MATCH (session)-[:HAS_THEME]->(theme:Theme)
  CALL (theme) {
    MATCH (theme)-[covers:COVERS]->(chunk:Chunk)
    RETURN collect([covers.index, chunk.uid]) AS covers
  }
  WITH theme, covers ORDER BY theme.place
  RETURN collect([theme.title, theme.summary, theme.uid, theme.reason, covers,
    [(theme)-[:DERIVED_FROM]->(source:Theme) | source.uid]]) AS themes
}
RETURN session.space, session.id, session.version, session.state, [] AS chunks, [] AS before,
  [] AS arrived,
  [pair IN keys WHERE pair[0] IS NOT NULL] AS keys,
  themes,
  [session.summary_state, session.summary_attempts, session.summary_outages,
   session.summary_deaths] AS backlog,
  coalesce(session.renew, false) AS renew
