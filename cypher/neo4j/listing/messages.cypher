// what: list messages in order of time and arrival (DESC and < replace ASC and > for the newest
//   first; the session's index and uid replace the space's for the messages of one session)
// parameters: space, since, until, excluded (the end of the range, not part of it), at, arrival
//   (the position to continue after), speaker (null for all), limit,
//   where (or null; see stores/neo4j/tokens.py)
// returns: arrival number, uid of the first chunk, id, session, speaker, at in microseconds, texts in order, whether all
//   chunks are enriched, role, metadata (JSON), tags, raw (JSON), expires in microseconds, written by
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, at, seq)
WHERE chunk.space = $space AND chunk.at >= $since AND chunk.at <= $until AND chunk.seq IS NOT NULL
  AND chunk.part = 0 AND chunk.at < $excluded
  AND (chunk.at > $at OR (chunk.at = $at AND chunk.seq > $arrival))
  AND ($speaker IS NULL OR chunk.speaker = $speaker)
  AND ($where IS NULL OR (
    coalesce(chunk.role, 'person') IN $where.roles
    AND ($where.sessions IS NULL OR chunk.session IN $where.sessions)
    AND ($where.speakers IS NULL OR coalesce(chunk.speaker, '') IN $where.speakers)
    AND ($where.since IS NULL OR chunk.at >= $where.since)
    AND ($where.until IS NULL OR chunk.at <= $where.until)
    AND all(mark IN $where.marks WHERE mark IN coalesce(chunk.marks, []))))
WITH chunk ORDER BY chunk.space ASC, chunk.at ASC, chunk.seq ASC LIMIT $limit
CALL (chunk) {
  MATCH (part:Chunk) USING INDEX part:Chunk(space, message_id)
  WHERE part.space = chunk.space AND part.message_id = chunk.message_id
    AND part.session_uid = chunk.session_uid
  WITH part ORDER BY part.part
  RETURN collect(part) AS parts
}
RETURN chunk.seq, chunk.uid, chunk.message_id, chunk.session, chunk.speaker, micros(chunk.at),
       [part IN parts | part.text], all(part IN parts WHERE part.state = 'done'), chunk.role,
       chunk.metadata, chunk.tags, chunk.raw, micros(chunk.expires), chunk.written_by
ORDER BY chunk.at ASC, chunk.seq ASC
