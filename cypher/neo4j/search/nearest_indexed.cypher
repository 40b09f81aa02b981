// what: find the nearest nodes of a large space in its own vector index, sorted by exact similarity
// parameters: index, fetch, vector, time (a property), until (or null),
//   where (or null; see stores/neo4j/index/allowed.py)
// returns: similarities, uids, sessions (of chunks and themes), subjects and objects (of triples),
//   number fetched, the lowest similarity
CALL db.index.vector.queryNodes($index, $fetch, $vector) YIELD node
WITH node, vector.similarity.cosine(node.embedding, $vector) AS score ORDER BY score DESC
WITH node, score, score > 0.5 AND ($until IS NULL OR node[$time] <= $until) AS in_time
WITH node, score, in_time
  AND ($where IS NULL OR (coalesce(node.role, 'person') IN $where.roles
    AND ($where.sessions IS NULL OR node.session IN $where.sessions)
    AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
    AND ($where.since IS NULL OR node.at >= $where.since)
    AND ($where.until IS NULL OR node.at <= $where.until)
    AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
    AND ($where.without_messages IS NULL
      OR NOT [node.session, node.message_id] IN $where.without_messages)
    AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, [])))) AS good
RETURN collect(CASE WHEN good THEN score END),
       collect(CASE WHEN good THEN node.uid END), collect(CASE WHEN good THEN node.session_uid END),
       collect(CASE WHEN good THEN node.subject_uid END),
       collect(CASE WHEN good THEN node.object_uid END), count(*), min(score)
