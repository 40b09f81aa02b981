// what: where triples are shown and where they should be
// parameters: triples (uids)
// returns: uid, fold, relation, when, negated, uids of the ends as read, uids these are shown as
//   (null: alone)
UNWIND $triples AS uid
MATCH (triple:Fact {uid: uid})
WITH triple, triple.raw_subject AS one
MATCH (subject:Named {uid: one})
WITH triple, subject, triple.raw_object AS other
MATCH (object:Named {uid: other})
RETURN triple.uid, triple.fold, triple.relation, triple.when, triple.negated, subject.uid,
       object.uid, subject.shown_uid, object.shown_uid
