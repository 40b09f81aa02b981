// what: spell triples that are there as they were said first
// parameters: triples: [{uid, spelled, subject, relation, object, vector, subject_alone,
//   object_alone}] sorted by uid: whether the ends are in no group; waiting (the property of
//   vectors that wait for another embedder: those of the old spelling are made again)
// returns: nothing
UNWIND $triples AS row
MATCH (triple:Fact {uid: row.uid})
WHERE row.spelled < coalesce(triple.spelled, '')
SET triple.spelled = row.spelled, triple.relation = row.relation,
    triple.subject = CASE WHEN row.subject_alone OR triple.subject_uid = triple.object_uid THEN row.subject ELSE triple.subject END,
    triple.object = CASE WHEN row.object_alone OR triple.subject_uid = triple.object_uid THEN row.object ELSE triple.object END,
    triple.said_subject = row.subject, triple.said_object = row.object,
    triple[$waiting] = null
WITH triple, row
CALL (triple, row) {
  WITH triple, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(triple, 'embedding', row.vector)
}
