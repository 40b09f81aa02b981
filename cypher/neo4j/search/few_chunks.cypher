// what: read what the candidate sources need of the chunks of some sessions that pass a filter, if
//   these sessions have few chunks (or of a stretch of time in the space, whose index replaces that
//   of sessions, or of those with some tags and metadata, found by full text); they are found
//   without the index of vectors
// parameters: keys (uids of sessions, or the space, or a full-text query), since, latest, most,
//   counted (only with full text: count up to this number), sample, vector (or null), terms, space,
//   until (or null), where (or null; see stores/neo4j/tokens.py)
// returns: number of chunks, uids, similarities, sessions (uids), lengths, terms found in each; in
//   order of arrival; if the number is above `most`, the columns are of those that pass among
//   `sample` of the chunks, evenly spread
UNWIND $keys AS key
MATCH (node:Chunk) USING INDEX node:Chunk(session_uid, at, seq)
WHERE node.session_uid = key AND node.at >= $since AND node.at <= $latest
  AND node.seq IS NOT NULL
WITH node LIMIT toInteger($most) + 1
WITH collect(node) AS nodes
CALL (nodes) {
  UNWIND CASE WHEN size(nodes) <= $most THEN nodes
         ELSE [place IN range(0, $sample - 1) | nodes[place * size(nodes) / $sample]] END AS node
  WITH node
  WHERE node.space = $space AND ($until IS NULL OR node.at <= $until)
    AND ($where IS NULL OR (coalesce(node.role, 'person') IN $where.roles
      AND ($where.sessions IS NULL OR node.session IN $where.sessions)
      AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
      AND ($where.since IS NULL OR node.at >= $where.since)
      AND ($where.until IS NULL OR node.at <= $where.until)
      AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
      AND ($where.without_messages IS NULL
        OR NOT [node.session, node.message_id] IN $where.without_messages)
      AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, []))))
  WITH node ORDER BY node.seq
  RETURN collect(node.uid) AS uids,
         collect(coalesce(vector.similarity.cosine(node.embedding, $vector), 0.5)) AS scores,
         collect(node.session_uid) AS sessions, collect(node.length) AS lengths,
         collect([term IN node.terms WHERE term IN $terms]) AS found
}
RETURN size(nodes), uids, scores, sessions, lengths, found
