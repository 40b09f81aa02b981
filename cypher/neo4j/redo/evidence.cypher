// what: which triples, as they were read, still have evidence
// parameters: triples (uids)
// returns: uid, fold, uids of the entities it was read with, whether it has any
UNWIND $triples AS uid
MATCH (triple:Fact {uid: uid})
OPTIONAL MATCH (triple)-[:SAME_AS]->(other:Fact)
WITH triple, coalesce(other, triple) AS home
RETURN triple.uid, triple.fold, triple.raw_subject, triple.raw_object, EXISTS {
  MATCH (home)-[evidence:EVIDENCE]->(:Chunk)
  WHERE coalesce(evidence.raw, home.uid) = triple.uid
}
