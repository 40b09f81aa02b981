// what: find the newest nodes of a space that contain all of the terms
//   (Triple replaces Chunk in the other layer)
// parameters: space, all, limit, time (a property), until (or null),
//   where (or null; see stores/neo4j/tokens.py),
//   unpacked (names of properties; see stores/neo4j/index/packed.py)
// returns: nodes (see stores/neo4j/index/packed.py)
MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
WHERE node.space = $space AND node.seq > 0
  AND ($until IS NULL OR node[$time] <= $until) AND all(term IN $all WHERE term IN node.terms)
  AND ($where IS NULL OR (coalesce(node.role, 'person') IN $where.roles
    AND ($where.sessions IS NULL OR node.session IN $where.sessions)
    AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
    AND ($where.since IS NULL OR node.at >= $where.since)
    AND ($where.until IS NULL OR node.at <= $where.until)
    AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
    AND ($where.without_messages IS NULL
      OR NOT [node.session, node.message_id] IN $where.without_messages)
    AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, []))))
WITH node ORDER BY node.space DESC, node.seq DESC LIMIT $limit
RETURN collect(coalesce(node.packed, [name IN $unpacked | node[name]]))
