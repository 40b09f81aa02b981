// what: a triple for people to read
// takes: triple, sources, subject and object (its entities)
// returns: uid, subject, subject type, relation, object, object type, when, negated,
//   first_observed, last_observed, sources, status, valid_from, valid_to, uid of the triple that
//   supersedes it, superseded_at, reason, earlier periods [from, until, ...]; times in microseconds
CALL (triple) {
  OPTIONAL MATCH (by:Triple)-[:SUPERSEDES]->(triple)
  RETURN min(by.uid) AS superseded_by
}
RETURN triple.uid, triple.subject, subject.type, triple.relation, triple.object, object.type,
       triple.when, triple.negated, micros(triple.first_observed), micros(triple.last_observed),
       sources, coalesce(triple.status, 'current'), micros(triple.valid_from),
       micros(triple.valid_to), superseded_by, micros(triple.superseded_at), triple.reason,
       triple.earlier
