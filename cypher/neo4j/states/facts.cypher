// what: read triples with all that decides whether they are current
// parameters: uids
// returns: uid, subject, subject type, relation, object, object type (as extracted), negated,
//   canonical names of subject and object, when, slot, holder, replaces, times of the evidence,
//   status, valid_from, valid_to, uid of the triple that supersedes it, superseded_at, decided_by,
//   reason, earlier periods; times in microseconds
UNWIND $uids AS uid
MATCH (triple:Triple {uid: uid})
WITH triple, triple.raw_subject AS one
MATCH (said_subject:Named {uid: one})
WITH triple, said_subject, triple.raw_object AS other
MATCH (said_object:Named {uid: other})
CALL (triple) {
  MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
  RETURN subject.name AS subject, object.name AS object
}
CALL (triple) {
  MATCH (triple)-[evidence:EVIDENCE]->(:Chunk)
  RETURN collect(DISTINCT micros(evidence.observed_at)) AS said
}
CALL (triple) {
  OPTIONAL MATCH (by:Triple)-[:SUPERSEDES]->(triple)
  RETURN min(by.uid) AS superseded_by
}
RETURN triple.uid, triple.said_subject, said_subject.type, triple.relation, triple.said_object,
       said_object.type, triple.negated, subject, object, triple.when, triple.slot, triple.holder,
       coalesce(triple.replaces, false), said, coalesce(triple.status, 'current'),
       micros(triple.valid_from), micros(triple.valid_to), superseded_by,
       micros(triple.superseded_at), triple.decided_by, triple.reason, triple.earlier
