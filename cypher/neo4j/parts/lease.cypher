// what: what a worker gets with a lease on some chunks of a session, or on none
// takes: session, chunks, $context (number of chunks before the first)
// returns: space, session (id), version, state (the summariser's), chunks, before
//   (newest first), arrived (arrival numbers of the chunks of each moment from the first of the
//   chunks to the last), keys, themes (as in notes), backlog [state, attempts, outages, deaths],
//   renew; a chunk is [uid, message_id, speaker, at in microseconds, text, part, attempts, outages,
//   extractor, deaths (crashes), seq, role, stated facts (JSON)]
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
// part: notes
RETURN session.space, session.id, session.version, session.state,
  [c IN chunks | [c.uid, c.message_id, c.speaker, micros(c.at), coalesce(c.fresh, c.text), c.part,
                  c.attempts, coalesce(c.outages, 0), c.extractor, coalesce(c.deaths, 0), c.seq,
                  c.role, c.facts]] AS chunks,
  [c IN before | [c.uid, c.message_id, c.speaker, micros(c.at), coalesce(c.fresh, c.text), c.part,
                  0, 0, null, 0, c.seq, c.role, null]] AS before,
  arrived, keys, themes,
  [session.summary_state, session.summary_attempts, session.summary_outages,
   session.summary_deaths] AS backlog,
  coalesce(session.renew, false) AS renew
