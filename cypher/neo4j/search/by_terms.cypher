// what: find nodes by full text that contain some of the terms, highest score first
// parameters: index, query (hashed tokens with boosts), limit, space, terms, time (a property),
//   until (or null), where (or null; see stores/neo4j/index/allowed.py)
// returns: uids, scores, lengths, terms found in each, whether each is visible, number fetched
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit}) YIELD node, score
WITH node, score WHERE node.space = $space
RETURN collect(node.uid), collect(score), collect(node.length),
       collect([term IN node.terms WHERE term IN $terms]),
       collect(($until IS NULL OR node[$time] <= $until)
  AND ($where IS NULL OR (coalesce(node.role, 'person') IN $where.roles
    AND ($where.sessions IS NULL OR node.session IN $where.sessions)
    AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
    AND ($where.since IS NULL OR node.at >= $where.since)
    AND ($where.until IS NULL OR node.at <= $where.until)
    AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
    AND ($where.without_messages IS NULL
      OR NOT [node.session, node.message_id] IN $where.without_messages)
    AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, []))))), count(*)
