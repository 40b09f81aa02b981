// what: take away the evidence and mentions of chunks that are read again
// parameters: chunks (uids)
// returns: triples that lost evidence, entities that lost a mention (uids, with repetitions)
UNWIND $chunks AS uid
MATCH (chunk:Chunk {uid: uid})
CALL (chunk) {
  OPTIONAL MATCH (triple:Triple)-[evidence:EVIDENCE]->(chunk)
  WITH collect(evidence) AS all, collect(triple.uid) AS triples
  FOREACH (evidence IN all | DELETE evidence)
  RETURN triples
}
CALL (chunk) {
  OPTIONAL MATCH (chunk)-[mention:MENTIONS]->(entity:Entity)
  WITH collect(mention) AS all, collect(entity.uid) AS entities
  FOREACH (mention IN all | DELETE mention)
  RETURN entities
}
RETURN triples, entities
