// what: list what ties triples and entities to some chunks
// parameters: chunks (uids)
// returns: for each chunk: uids of the triples that it is evidence for, uids of the entities that it
//   mentions and of those that these triples are about (with repetitions)
UNWIND $chunks AS uid
MATCH (chunk:Chunk {uid: uid})
CALL (chunk) {
  OPTIONAL MATCH (triple:Triple)-[:EVIDENCE]->(chunk)
  RETURN collect(triple.uid) AS triples,
         collect(triple.subject_uid) + collect(triple.object_uid) AS stated
}
CALL (chunk) {
  OPTIONAL MATCH (chunk)-[:MENTIONS]->(entity:Entity)
  RETURN collect(entity.uid) AS mentioned
}
RETURN triples, mentioned + stated
