// what: list what users said of the triples of a space, by names that are the same in any space
// parameters: space
// returns: kind, at and recorded in microseconds, reason, then of the triple and of the one that
//   supersedes it (or nulls): subject, its type, relation, object, its type, when, negated
MATCH (ruling:StateRuling) USING INDEX ruling:StateRuling(space)
WHERE ruling.space = $space
WITH ruling, ruling.uid AS said
MATCH (triple:Fact {uid: said})
WITH ruling, triple, triple.raw_subject AS one
MATCH (subject:Named {uid: one})
WITH ruling, triple, subject, triple.raw_object AS other
MATCH (object:Named {uid: other})
WITH ruling, triple, subject, object, ruling.superseded_by AS instead
OPTIONAL MATCH (by:Fact {uid: instead})
WITH ruling, triple, subject, object, by, by.raw_subject AS by_one
OPTIONAL MATCH (by_subject:Named {uid: by_one})
WITH ruling, triple, subject, object, by, by_subject, by.raw_object AS by_other
OPTIONAL MATCH (by_object:Named {uid: by_other})
RETURN ruling.kind, micros(ruling.at), ruling.recorded, ruling.reason, subject.name, subject.type,
       triple.relation, object.name, object.type, triple.when, triple.negated, by_subject.name,
       by_subject.type, by.relation, by_object.name, by_object.type, by.when, by.negated
ORDER BY ruling.recorded
