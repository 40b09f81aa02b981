// what: read the candidates of a search with the values that ranking needs: the triples that were
//   found and have evidence, the chunks that were found or are evidence with their neighbours, and
//   the sessions of all of these (2 is the default radius, which the store replaces if needed)
// parameters: space, chunks, triples and sessions (uids that were found), vector (or null), terms,
//   entities (vectors), until (or null), where (see stores/neo4j/index/allowed.py),
//   texts (true or false)
// returns: columns of triples: uids, cosine similarities, lengths, terms found in each, chunks (uids)
//   that are evidence for each, texts (subject, relation and object, '' unless requested);
//   columns of chunks: uids, cosine similarities, lengths, terms found in each, times in
//   microseconds, sessions (uids), questions, speakers ('' for none), next chunks (uids, '' at the
//   end), whether there is a previous one, texts ('' unless requested), roles ('' for none);
//   sessions: [uid, id, best theme similarity (null without themes), length of the themes, terms
//   found in them, number of keys, best similarity of a key with each entity (empty without keys)]
CALL () {
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
    RETURN collect(DISTINCT chunk) AS sources
  }
  WITH triple, sources WHERE size(sources) > 0
  RETURN collect(triple.uid) AS triple_uids,
         collect(coalesce(vector.similarity.cosine(triple.embedding, $vector), 0.5)) AS cosines,
         collect(triple.length) AS lengths,
         collect([term IN triple.terms WHERE term IN $terms]) AS found,
         collect([chunk IN sources | chunk.uid]) AS evidence,
         collect(CASE WHEN $texts
                 THEN triple.subject + ' ' + triple.relation + ' ' + triple.object ELSE '' END)
           AS texts,
         collect(sources) AS all_sources
}
CALL (all_sources) {
  CALL (all_sources) {
    UNWIND $chunks AS uid
    MATCH (seed:Chunk {uid: uid})
    RETURN seed
    UNION
    UNWIND all_sources AS sources
    UNWIND sources AS seed
    RETURN seed
  }
  MATCH (seed)-[:NEXT*0..2]-(chunk:Chunk)
  WITH DISTINCT chunk
  WHERE chunk.space = $space AND ($until IS NULL OR chunk.at <= $until)
    AND ($where IS NULL OR (coalesce(chunk.role, 'person') IN $where.roles
      AND ($where.sessions IS NULL OR chunk.session IN $where.sessions)
      AND ($where.speakers IS NULL OR coalesce(chunk.speaker, '') IN $where.speakers)
      AND ($where.since IS NULL OR chunk.at >= $where.since)
      AND ($where.until IS NULL OR chunk.at <= $where.until)
      AND all(mark IN $where.marks WHERE mark IN coalesce(chunk.marks, []))))
  OPTIONAL MATCH (chunk)-[:NEXT]->(next:Chunk)
  WITH chunk, next, EXISTS { (chunk)<-[:NEXT]-() } AS has_previous
  RETURN [collect(chunk.uid),
          collect(coalesce(vector.similarity.cosine(chunk.embedding, $vector), 0.5)),
          collect(chunk.length), collect([term IN chunk.terms WHERE term IN $terms]),
          collect(chunk.at.epochSeconds * 1000000 + chunk.at.microsecond),
          collect(chunk.session_uid), collect(chunk.question), collect(coalesce(chunk.speaker, '')),
          collect(coalesce(next.uid, '')), collect(has_previous),
          collect(CASE WHEN $texts THEN chunk.text ELSE '' END), collect(coalesce(chunk.role, ''))]
           AS chunk_columns, collect(DISTINCT chunk.session_uid) AS own_sessions
}
CALL (own_sessions) {
  UNWIND own_sessions + [uid IN $sessions WHERE NOT uid IN own_sessions] AS uid
  MATCH (session:Session {uid: uid})
  WHERE session.space = $space
  CALL (session) {
    OPTIONAL MATCH (session)-[:HAS_THEME]->(theme:Theme)
    RETURN max(CASE WHEN theme IS NULL THEN null
               ELSE coalesce(vector.similarity.cosine(theme.embedding, $vector), 0.5) END) AS best,
           sum(theme.length) AS length,
           collect([term IN theme.terms WHERE term IN $terms]) AS words
  }
  CALL (session) {
    WITH session WHERE $entities IS NOT NULL
    MATCH (session)-[:HAS_KEY]->(key:Key)
    UNWIND range(0, size($entities) - 1) AS position
    WITH position,
         max(coalesce(vector.similarity.cosine(key.embedding, $entities[position]), 0.5)) AS nearest
    ORDER BY position
    RETURN collect(nearest) AS keys
  }
  RETURN collect([session.uid, session.id, best, length, words,
    CASE WHEN $entities IS NULL THEN 0 ELSE COUNT { (session)-[:HAS_KEY]->() } END, keys]) AS rows
}
RETURN triple_uids, cosines, lengths, found, evidence, texts, chunk_columns, rows
