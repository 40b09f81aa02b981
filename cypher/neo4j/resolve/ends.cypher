// what: read the subjects and objects of triples, as extracted and canonical
// parameters: triples (uids)
// returns: uid, fold (key shared by duplicates), relation, when, negated, uids of subject and
//   object as extracted, their canonical uids (null if in no group)
UNWIND $triples AS uid
MATCH (triple:Fact {uid: uid})
WITH triple, triple.raw_subject AS one
MATCH (subject:Named {uid: one})
WITH triple, subject, triple.raw_object AS other
MATCH (object:Named {uid: other})
RETURN triple.uid, triple.fold, triple.relation, triple.when, triple.negated, subject.uid,
       object.uid, subject.shown_uid, object.shown_uid
