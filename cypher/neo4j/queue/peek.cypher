// what: read the chunks of a session in some states, in the form in which a lease returns them
// parameters: session (uid), states, context
// returns: as claim; no row if there are no such chunks and no summary is due
MATCH (session:Session {uid: $session})
CALL (session) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.state IN $states AND chunk.at IS NOT NULL
    AND chunk.seq IS NOT NULL
  WITH chunk ORDER BY chunk.at, chunk.seq
  RETURN collect(chunk) AS chunks
}
WITH session, chunks, chunks[0] AS first
WHERE size(chunks) > 0 OR session.summary_state = 'pending'
CALL (session, first) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.at <= first.at AND chunk.seq IS NOT NULL
    AND (chunk.at < first.at OR chunk.seq < first.seq)
    AND (chunk.fresh IS NULL OR chunk.fresh <> '')
    AND (chunk.role IS NULL OR NOT chunk.role IN ['system', 'tool'])
  WITH chunk ORDER BY chunk.session_uid DESC, chunk.at DESC, chunk.seq DESC LIMIT $context
  RETURN collect(chunk) AS before
}
CALL (session, chunks) {
  WITH session, chunks[0].at AS since, chunks[-1].at AS until
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.at >= since AND chunk.at <= until
    AND chunk.seq IS NOT NULL
  WITH chunk.at AS at, chunk.seq AS seq ORDER BY at, seq
  WITH at, collect(seq) AS together
  RETURN collect(together) AS arrived
}
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
RETURN session.space, session.id, session.version, session.state,
  [c IN chunks | [c.uid, c.message_id, c.speaker, c.at.epochSeconds * 1000000 + c.at.microsecond,
                  coalesce(c.fresh, c.text), c.part, c.attempts, coalesce(c.outages, 0), c.extractor,
                  coalesce(c.deaths, 0), c.seq, c.role, c.facts]]
    AS chunks,
  [c IN before | [c.uid, c.message_id, c.speaker, c.at.epochSeconds * 1000000 + c.at.microsecond,
                  coalesce(c.fresh, c.text), c.part, 0, 0, null, 0, c.seq, c.role, null]] AS before,
  arrived,
  [pair IN keys WHERE pair[0] IS NOT NULL] AS keys,
  themes,
  [session.summary_state, session.summary_attempts, session.summary_outages,
   session.summary_deaths] AS backlog,
  coalesce(session.renew, false) AS renew
