// what: remove the links of triples to subject, object and sessions, and move their evidence to the
//   triples they will be duplicates of
// parameters: rows: [{uid, into}], where into is the uid of the canonical triple, possibly the same
UNWIND $rows AS row
MATCH (triple:Fact {uid: row.uid})
WITH row, triple, row.into AS uid
MATCH (into:Fact {uid: uid})
CALL (triple, into) {
  OPTIONAL MATCH (triple)-[:SAME_AS]->(old:Fact)
  WITH triple, into, coalesce(old, triple) AS home
  WHERE home <> into
  MATCH (home)-[evidence:EVIDENCE]->(chunk:Chunk)
  WHERE coalesce(evidence.raw, home.uid) = triple.uid
  CREATE (into)-[moved:EVIDENCE]->(chunk)
  SET moved = properties(evidence),
      moved.raw = CASE WHEN into = triple THEN null ELSE triple.uid END
  DELETE evidence
}
CALL (triple) {
  MATCH (triple)-[first:SUBJECT]->(subject:Named)
  MATCH (triple)-[second:OBJECT]->(object:Named)
  SET subject.loops = subject.loops - CASE WHEN subject = object THEN 1 ELSE 0 END
  DELETE first, second
}
CALL (triple) {
  MATCH (triple)-[gone:IN_SESSION]->()
  DELETE gone
}
CALL (triple) {
  MATCH (triple)-[gone:SAME_AS]->()
  DELETE gone
}
