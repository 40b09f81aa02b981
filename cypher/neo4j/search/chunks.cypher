// what: read candidate chunks and their neighbours with the values that ranking needs
//   (2 is the default radius, which the store replaces if needed)
// parameters: space, chunks (uids), vector (or null), terms, until (or null),
//   where (see stores/neo4j/index/allowed.py),
//   texts (true or false)
// returns: uids, cosine similarities, lengths, terms found in each, times in microseconds,
//   sessions (uids), questions, speakers ('' for none), next chunks (uids, '' at the end),
//   whether there is a previous one, texts ('' unless requested), roles ('' for none)
UNWIND $chunks AS uid
MATCH (:Chunk {uid: uid})-[:NEXT*0..2]-(chunk:Chunk)
WITH DISTINCT chunk
WHERE chunk.space = $space AND ($until IS NULL OR chunk.at <= $until)
  AND ($where IS NULL OR (coalesce(chunk.role, 'person') IN $where.roles
    AND ($where.sessions IS NULL OR chunk.session IN $where.sessions)
    AND ($where.speakers IS NULL OR coalesce(chunk.speaker, '') IN $where.speakers)
    AND ($where.since IS NULL OR chunk.at >= $where.since)
    AND ($where.until IS NULL OR chunk.at <= $where.until)
    AND all(mark IN $where.marks WHERE mark IN coalesce(chunk.marks, []))))
OPTIONAL MATCH (chunk)-[:NEXT]->(next:Chunk)
RETURN collect(chunk.uid),
       collect(coalesce(vector.similarity.cosine(chunk.embedding, $vector), 0.5)),
       collect(chunk.length), collect([term IN chunk.terms WHERE term IN $terms]),
       collect(chunk.at.epochSeconds * 1000000 + chunk.at.microsecond),
       collect(chunk.session_uid), collect(chunk.question), collect(coalesce(chunk.speaker, '')),
       collect(coalesce(next.uid, '')),
       collect(EXISTS { (chunk)<-[:NEXT]-() }),
       collect(CASE WHEN $texts THEN chunk.text ELSE '' END), collect(coalesce(chunk.role, ''))
