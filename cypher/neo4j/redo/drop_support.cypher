// what: remove the evidence, mentions and alias sources of chunks that are extracted again
// parameters: chunks (uids)
// returns: triples that lost evidence, entities that lost a mention, aliases that lost a source
//   (uids as extracted, with repetitions)
UNWIND $chunks AS uid
MATCH (chunk:Chunk {uid: uid})
CALL (chunk) {
  OPTIONAL MATCH (triple:Triple)-[evidence:EVIDENCE]->(chunk)
  WITH collect(evidence) AS all, collect(coalesce(evidence.raw, triple.uid)) AS triples
  FOREACH (evidence IN all | DELETE evidence)
  RETURN triples
}
CALL (chunk) {
  OPTIONAL MATCH (chunk)-[mention:MENTIONS]->(entity:Entity)
  WITH collect(mention) AS all, collect(coalesce(mention.raw, entity.uid)) AS entities
  FOREACH (mention IN all | DELETE mention)
  RETURN entities
}
CALL (chunk) {
  OPTIONAL MATCH (alias:Alias)-[source:STATED_IN]->(chunk)
  WITH collect(source) AS all, collect(alias.uid) AS aliases
  FOREACH (source IN all | DELETE source)
  RETURN aliases
}
RETURN triples, entities, aliases
