// what: read candidate triples with the values that ranking needs
// parameters: space, triples (uids), vector (or null), terms, until (or null),
//   where (see stores/neo4j/index/allowed.py),
//   texts (true or false)
// returns: uids, cosine similarities, lengths, terms found in each, chunks (uids) that are evidence
//   for each, texts (subject, relation and object, '' unless requested)
UNWIND $triples AS uid
MATCH (triple:Triple {uid: uid})
WHERE triple.space = $space
CALL (triple) {
  MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
  WHERE ($until IS NULL OR evidence.observed_at <= $until)
    AND ($where IS NULL OR (coalesce(chunk.role, 'person') IN $where.roles
      AND ($where.sessions IS NULL OR chunk.session IN $where.sessions)
      AND ($where.speakers IS NULL OR coalesce(chunk.speaker, '') IN $where.speakers)
      AND ($where.since IS NULL OR chunk.at >= $where.since)
      AND ($where.until IS NULL OR chunk.at <= $where.until)
      AND all(mark IN $where.marks WHERE mark IN coalesce(chunk.marks, []))))
  RETURN collect(DISTINCT chunk.uid) AS chunks
}
RETURN collect(triple.uid),
       collect(coalesce(vector.similarity.cosine(triple.embedding, $vector), 0.5)),
       collect(triple.length), collect([term IN triple.terms WHERE term IN $terms]), collect(chunks),
       collect(CASE WHEN $texts
               THEN triple.subject + ' ' + triple.relation + ' ' + triple.object ELSE '' END)
