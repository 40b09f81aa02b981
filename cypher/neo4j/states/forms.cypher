// what: read triples as extracted, to find out which slots they make claims about
// returns: uid, subject, subject type, relation, object, object type, negated, slot, holder and
//   replaces as stored, uids of the canonical subject and object, whether any evidence replaces
UNWIND $uids AS uid
MATCH (triple:Fact {uid: uid})
WITH triple, triple.raw_subject AS one
MATCH (subject:Named {uid: one})
WITH triple, subject, triple.raw_object AS other
MATCH (object:Named {uid: other})
RETURN triple.uid, triple.said_subject, subject.type, triple.relation, triple.said_object,
       object.type, triple.negated, triple.slot, triple.holder, triple.replaces,
       triple.subject_uid, triple.object_uid,
       EXISTS { MATCH (triple)-[evidence:EVIDENCE]->(:Chunk) WHERE evidence.replaces }
