// what: write the new names of canonical entities to their triples
UNWIND $uids AS uid
MATCH (entity:Entity {uid: uid})
CALL (entity) {
  MATCH (entity)<-[:SUBJECT]-(triple:Triple)
  WHERE triple.subject_uid <> triple.object_uid
  SET triple.subject = entity.name
}
CALL (entity) {
  MATCH (entity)<-[:OBJECT]-(triple:Triple)
  WHERE triple.subject_uid <> triple.object_uid
  SET triple.object = entity.name
}
