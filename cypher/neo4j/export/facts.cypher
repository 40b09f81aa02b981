// what: read the triples that the chunks of a session are evidence for, as extracted
// parameters: session (uid)
// returns: message id, part, subject, relation, object, normalised subject and object, types of
//   both, when, negated, person quoted, whether it replaces others, how the chunk spells it
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, at, seq)
WHERE chunk.session_uid = $session AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
MATCH (chunk)<-[evidence:EVIDENCE]-(shown:Triple)
WITH chunk, evidence, coalesce(evidence.raw, shown.uid) AS raw
MATCH (triple:Fact {uid: raw})
WITH chunk, evidence, triple, triple.raw_subject AS one
MATCH (subject:Named {uid: one})
WITH chunk, evidence, triple, subject, triple.raw_object AS other
MATCH (object:Named {uid: other})
RETURN chunk.message_id, chunk.part, triple.said_subject, triple.relation, triple.said_object,
       subject.normalised, object.normalised, subject.type, object.type, triple.when,
       triple.negated, evidence.said_by, coalesce(evidence.replaces, false), evidence.spelled
ORDER BY chunk.at, chunk.seq, triple.uid
