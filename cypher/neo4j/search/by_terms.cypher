// what: find nodes by full text that contain some of the terms, highest score first
// parameters: index, query (hashed tokens with boosts), limit, time (a property), until (or null),
//   where (or null; see stores/neo4j/tokens.py),
//   unpacked (names of properties; see stores/neo4j/index/packed.py)
// returns: nodes (see stores/neo4j/index/packed.py), scores, whether each passes
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit}) YIELD node, score
RETURN collect(coalesce(node.packed, [name IN $unpacked | node[name]])),
  collect(score),
  collect(($until IS NULL OR node[$time] <= $until)
    AND ($where IS NULL OR (coalesce(node.role, 'person') IN $where.roles
      AND ($where.sessions IS NULL OR node.session IN $where.sessions)
      AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
      AND ($where.since IS NULL OR node.at >= $where.since)
      AND ($where.until IS NULL OR node.at <= $where.until)
      AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
      AND ($where.without_messages IS NULL
        OR NOT [node.session, node.message_id] IN $where.without_messages)
      AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, [])))))
