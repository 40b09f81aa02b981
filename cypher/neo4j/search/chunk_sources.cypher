// what: run the candidate sources for chunks: by vector, in the space's own index or by comparing
//   all, and by words; the statements nearest, nearest_indexed and by_terms do one each
// parameters: space, vector, until (or null), where (or null; see stores/neo4j/tokens.py),
//   words: {index, query, limit} (query null: none),
//   chunk: {index (null: none), fetch, after (arrival number, null: compare none), limit, few},
//   unpacked (names of properties; see stores/neo4j/index/packed.py)
// returns: rows of nearest_indexed, nearest and by_terms for chunks; before that of nearest, the
//   nodes that are not in the index yet, which then lacks them, if they are at most `few`
// Each subquery imports its parameter, so that the planner runs one after the other. If only roles
// are a condition, stores/neo4j/statements.py leaves out what is marked as filter.
WITH $chunk AS chunk, $words AS words
CALL (chunk) {
  WITH chunk.index AS index WHERE index IS NOT NULL
  CALL db.index.vector.queryNodes(index, $chunk.fetch, $vector) YIELD node
  RETURN [
    collect(coalesce(node.packed, [name IN $unpacked | node[name]])),
    collect(true
      // filter
      AND ($until IS NULL OR node.at <= $until)
      AND ($where IS NULL OR (coalesce(node.role, 'person') IN $where.roles
        AND ($where.sessions IS NULL OR node.session IN $where.sessions)
        AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
        AND ($where.since IS NULL OR node.at >= $where.since)
        AND ($where.until IS NULL OR node.at <= $where.until)
        AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
        AND ($where.without_messages IS NULL
          OR NOT [node.session, node.message_id] IN $where.without_messages)
        AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, []))))
// end of filter
    ), []] AS chunks_indexed
}
CALL (chunk) {
  WITH chunk.after AS after WHERE after IS NOT NULL
  MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
  WHERE node.space = $space AND node.seq > after
    AND coalesce(node.role, 'person') IN $where.roles
    // filter
    AND ($until IS NULL OR node.at <= $until)
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
  WITH collect(node) AS nodes
  WITH nodes, $chunk.index IS NOT NULL AND size(nodes) <= $chunk.few AS few
  CALL (nodes, few) {
    UNWIND CASE WHEN few THEN nodes ELSE [] END AS node
    RETURN collect(coalesce(node.packed, [name IN $unpacked | node[name]])) AS newest
  }
  CALL (nodes, few) {
    UNWIND CASE WHEN few THEN [] ELSE nodes END AS node
    WITH node, vector.similarity.cosine(node.embedding, $vector) AS score
    WHERE score > 0.5
    WITH node, score ORDER BY score DESC, node.seq LIMIT toInteger($chunk.limit)
    RETURN [collect(score), collect(node.uid), collect(node.session_uid)] AS compared
  }
  RETURN newest, compared AS chunks_compared
}
CALL (words) {
  WITH words.query AS query WHERE query IS NOT NULL
  CALL db.index.fulltext.queryNodes($words.index, query, {limit: $words.limit}) YIELD node, score
  RETURN [
    collect(coalesce(node.packed, [name IN $unpacked | node[name]])),
    collect(score),
    collect(true
      // filter
      AND ($until IS NULL OR node.at <= $until)
      AND ($where IS NULL OR (coalesce(node.role, 'person') IN $where.roles
        AND ($where.sessions IS NULL OR node.session IN $where.sessions)
        AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
        AND ($where.since IS NULL OR node.at >= $where.since)
        AND ($where.until IS NULL OR node.at <= $where.until)
        AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
        AND ($where.without_messages IS NULL
          OR NOT [node.session, node.message_id] IN $where.without_messages)
        AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, []))))
// end of filter
    )] AS chunks_by_words
}
RETURN chunks_indexed, newest, chunks_compared, chunks_by_words
