// what: find the newest nodes of a space that contain all of the terms of a full-text query, if few
//   contain them
// parameters: index, query, most (that are few), space, limit, time (a property), until (or null),
//   where (or null; see stores/neo4j/tokens.py),
//   unpacked (names of properties; see stores/neo4j/index/packed.py)
// returns: whether they are few, nodes (see stores/neo4j/index/packed.py)
// If only roles are a condition, stores/neo4j/statements.py leaves out what is marked as filter.
CALL db.index.fulltext.queryNodes($index, $query, {limit: $most + 1}) YIELD node
WITH collect(node) AS nodes
CALL (nodes) {
  WITH nodes WHERE size(nodes) <= $most
  UNWIND nodes AS node
  WITH node
  WHERE node.space = $space AND ($where IS NULL OR coalesce(node.role, 'person') IN $where.roles)
    // filter
    AND ($until IS NULL OR node[$time] <= $until)
    AND ($where IS NULL OR (
      ($where.sessions IS NULL OR node.session IN $where.sessions)
      AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
      AND ($where.since IS NULL OR node.at >= $where.since)
      AND ($where.until IS NULL OR node.at <= $where.until)
      AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
      AND ($where.without_messages IS NULL
        OR NOT [node.session, node.message_id] IN $where.without_messages)
      AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, []))))
    // end of filter
  WITH node ORDER BY node.seq DESC LIMIT $limit
  RETURN collect(coalesce(node.packed, [name IN $unpacked | node[name]])) AS newest
}
RETURN size(nodes) <= $most, newest
