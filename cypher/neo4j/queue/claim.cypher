// what: lease the pending chunks of a session to one worker
// parameters: session (uid), token, now, until, limit, context
// returns: space, session (id), version, state (the summariser's), chunks, before
//   (newest first), arrived (arrival numbers of the chunks of each moment from the first of the
//   chunks to the last), keys [[name, weight]], themes [[title, summary, uid, reason,
//   [[index, chunk uid]]]], backlog [state, attempts, outages], renew; a chunk is [uid, message_id,
//   speaker, at in microseconds, text, part, attempts, outages, extractor, deaths (crashes), seq,
//   role, stated facts (JSON)];
//   no row if another worker claimed the session first
MATCH (session:Session {uid: $session})
// This write takes the lock, so that the lease is read and written atomically.
SET session.claims = session.claims + 1
WITH session
WHERE session.lease_until IS NULL OR session.lease_until <= $now
CALL (session) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.state = 'pending' AND chunk.at IS NOT NULL
    AND chunk.seq IS NOT NULL AND (chunk.retry_at IS NULL OR chunk.retry_at <= $now)
  WITH chunk ORDER BY chunk.session_uid, chunk.state, chunk.at, chunk.seq LIMIT $limit
  RETURN collect(chunk) AS ready
}
WITH session, ready
WHERE size(ready) > 0
// As in stores/batch_size.py: each failed attempt reduces the batch to a quarter, and a batch
// contains no chunk that failed more often than its first.
WITH session, ready,
     [chunk IN ready | chunk.attempts + coalesce(chunk.outages, 0) / 3
                       + CASE WHEN coalesce(chunk.deaths, 0) >= 2 THEN 16 ELSE 0 END] AS failures
WITH session, ready, failures, failures[0] AS tries
WITH session, ready, failures, tries,
     CASE WHEN tries > 15 THEN 1 ELSE toInteger($limit / 4 ^ tries) END AS most
WITH session, ready[..CASE WHEN most < 1 THEN 1 ELSE most END] AS ready, failures, tries
WITH session, ready,
     [place IN range(0, size(ready) - 1) WHERE failures[place] > tries | place][0] AS suspect
WITH session, ready[..coalesce(suspect, size(ready))] AS chunks
SET session.lease = $token, session.lease_until = $until
FOREACH (chunk IN chunks | SET chunk.lease = $token)
WITH session, chunks, chunks[0] AS first
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
