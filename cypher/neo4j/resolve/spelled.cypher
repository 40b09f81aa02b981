// what: give existing triples the spelling of an earlier occurrence
// parameters: triples: [{uid, spelled, subject, relation, object, vector, ranking (packed), subject_alone,
//   object_alone}] sorted by uid, where the last two are whether the entity is in no group,
//   waiting (property of the vectors for the next embedder, which are reset and made again)
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
SET triple.packed = row.ranking
