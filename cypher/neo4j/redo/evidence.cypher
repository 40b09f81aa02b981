// what: find out which triples, as extracted, still have evidence
// parameters: triples (uids)
// returns: uid, fold (key shared by duplicates), uids of subject and object as extracted, whether
//   there is evidence
UNWIND $triples AS uid
MATCH (triple:Fact {uid: uid})
OPTIONAL MATCH (triple)-[:SAME_AS]->(other:Fact)
WITH triple, coalesce(other, triple) AS home
RETURN triple.uid, triple.fold, triple.raw_subject, triple.raw_object, EXISTS {
  MATCH (home)-[evidence:EVIDENCE]->(:Chunk)
  WHERE coalesce(evidence.raw, home.uid) = triple.uid
}
