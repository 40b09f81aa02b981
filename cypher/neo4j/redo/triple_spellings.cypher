// what: read how each chunk spells some triples; only triples whose current spelling comes from a
//   chunk of some moments
// parameters: triples (uids), instants (what a spelling of these moments begins with)
// returns: uid, normalised names of subject and object, subject, relation, object, and
//   [[moment in microseconds, spelling]] of the evidence
UNWIND $triples AS uid
MATCH (triple:Fact {uid: uid})
WHERE left(triple.spelled, 19) IN $instants
WITH triple, triple.raw_subject AS one
MATCH (subject:Named {uid: one})
WITH triple, subject, triple.raw_object AS other
MATCH (object:Named {uid: other})
OPTIONAL MATCH (triple)-[:SAME_AS]->(into:Fact)
WITH triple, subject, object, coalesce(into, triple) AS home
MATCH (home)-[evidence:EVIDENCE]->(chunk:Chunk)
WHERE coalesce(evidence.raw, home.uid) = triple.uid
RETURN triple.uid, subject.normalised, object.normalised, triple.said_subject, triple.relation,
  triple.said_object,
  collect([micros(chunk.at), evidence.spelled])
