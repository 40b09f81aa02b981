// what: read the candidates of a search with the values that ranking needs: the triples that were
//   found and have evidence, the chunks that were found or are evidence with their neighbours, and
//   the sessions of all of these (2 is the default radius, which the store replaces if needed, as it
//   does the 3, which is one more: the links of the outermost neighbours)
// parameters: space, chunks, triples and sessions (uids that were found), vector (or null),
//   entities (vectors), until (or null), where (see stores/neo4j/tokens.py),
//   texts (true or false),
//   unpacked (names of properties; see stores/neo4j/index/packed.py)
// returns: columns of triples: nodes (see stores/neo4j/index/packed.py), chunks (element ids) that
//   are evidence for each, texts (subject, relation and object, '' unless requested);
//   columns of chunks: nodes, element ids, texts ('' unless requested), and of the links from a chunk
//   to the next one, in any order: element ids of the chunks, and of those after them;
//   sessions: [uid, id, themes (nodes), number of keys, best similarity of a key with each entity
//   (empty without keys)]
// If only roles are a condition, stores/neo4j/statements.py leaves out what is marked as filter, and without
// entities what is marked as keys. The caller looks at the roles of neighbours, and at the spaces of
// chunks and triples.
CALL () {
  UNWIND $triples AS uid
  MATCH (triple:Triple {uid: uid})
  CALL (triple) {
    MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
    WHERE coalesce(chunk.role, 'person') IN $where.roles
      // filter
      AND ($until IS NULL OR evidence.observed_at <= $until)
      AND ($where IS NULL OR (coalesce(chunk.role, 'person') IN $where.roles
        AND ($where.sessions IS NULL OR chunk.session IN $where.sessions)
        AND ($where.speakers IS NULL OR coalesce(chunk.speaker, '') IN $where.speakers)
        AND ($where.since IS NULL OR chunk.at >= $where.since)
        AND ($where.until IS NULL OR chunk.at <= $where.until)
        AND all(mark IN $where.marks WHERE mark IN coalesce(chunk.marks, []))))
// end of filter
    RETURN collect(DISTINCT chunk) AS sources
  }
  WITH triple, sources WHERE size(sources) > 0
  RETURN [
    collect(coalesce(triple.packed, [name IN $unpacked | triple[name]])),
    collect([chunk IN sources | elementId(chunk)]),
    collect(CASE WHEN $texts
            THEN triple.subject + ' ' + triple.relation + ' ' + triple.object ELSE '' END)]
      AS triple_columns,
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
  RETURN collect(seed) AS seeds, collect(DISTINCT seed.session_uid) AS own_sessions
}
CALL (seeds) {
  UNWIND seeds AS seed
  MATCH (seed)-[links:NEXT*1..3]-()
  WITH DISTINCT last(links) AS link
  RETURN collect(elementId(startNode(link))) AS befores, collect(elementId(endNode(link))) AS afters
}
CALL (seeds) {
  UNWIND seeds AS seed
  MATCH (seed)-[:NEXT*0..2]-(chunk)
  WITH DISTINCT chunk
  // filter
  WHERE ($until IS NULL OR chunk.at <= $until)
    AND ($where IS NULL OR (coalesce(chunk.role, 'person') IN $where.roles
      AND ($where.sessions IS NULL OR chunk.session IN $where.sessions)
      AND ($where.speakers IS NULL OR coalesce(chunk.speaker, '') IN $where.speakers)
      AND ($where.since IS NULL OR chunk.at >= $where.since)
      AND ($where.until IS NULL OR chunk.at <= $where.until)
      AND all(mark IN $where.marks WHERE mark IN coalesce(chunk.marks, []))))
// end of filter
  RETURN [
    collect(coalesce(chunk.packed, [name IN $unpacked | chunk[name]])),
    collect(elementId(chunk)),
    collect(CASE WHEN $texts THEN chunk.text ELSE '' END)] AS chunk_columns
}
CALL (own_sessions) {
  UNWIND own_sessions + [uid IN $sessions WHERE NOT uid IN own_sessions] AS uid
  MATCH (session:Session {uid: uid})
  WHERE session.space = $space
  OPTIONAL MATCH (session)-[:HAS_THEME]->(theme:Theme)
  WITH session, collect(CASE WHEN theme IS NOT NULL
    THEN coalesce(theme.packed, [name IN $unpacked | theme[name]]) END) AS themes
  // keys
  CALL (session) {
    MATCH (session)-[:HAS_KEY]->(key:Key)
    UNWIND range(0, size($entities) - 1) AS position
    WITH position,
         max(coalesce(vector.similarity.cosine(key.embedding, $entities[position]), 0.5)) AS nearest
    ORDER BY position
    RETURN collect(nearest) AS keys
  }
  // end of keys
  RETURN collect([session.uid, session.id, themes
    // keys
    , COUNT { (session)-[:HAS_KEY]->() }, keys
    // end of keys
  ]) AS rows
}
RETURN triple_columns, chunk_columns + [befores, afters] AS chunk_columns, rows
