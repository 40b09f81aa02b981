// what: find the nearest nodes of a small space, or of the newest part of a large one, exhaustively
//   (full text replaces the index, where all have some tags and metadata)
// parameters: space, after (arrival number), vector, limit, time (a property), until (or null),
//   where (or null; see stores/neo4j/tokens.py), having (a full-text query)
// returns: similarities, uids, sessions (uids; of chunks and themes)
MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
WHERE node.space = $space AND node.seq > $after AND ($until IS NULL OR node[$time] <= $until)
  AND ($where IS NULL OR (coalesce(node.role, 'person') IN $where.roles
    AND ($where.sessions IS NULL OR node.session IN $where.sessions)
    AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
    AND ($where.since IS NULL OR node.at >= $where.since)
    AND ($where.until IS NULL OR node.at <= $where.until)
    AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
    AND ($where.without_messages IS NULL
      OR NOT [node.session, node.message_id] IN $where.without_messages)
    AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, []))))
WITH node, vector.similarity.cosine(node.embedding, $vector) AS score
WHERE score > 0.5
WITH node, score ORDER BY score DESC, node.seq LIMIT $limit
RETURN collect(score), collect(node.uid), collect(node.session_uid)
