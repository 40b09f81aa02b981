// what: read the names and spellings that were read out of some chunks
// parameters: chunks (uids)
// returns: uid, names
UNWIND $chunks AS uid
MATCH (chunk:Chunk {uid: uid})
CALL (chunk) {
  OPTIONAL MATCH (chunk)-[mention:MENTIONS]->(shown:Entity)
  WITH mention, coalesce(mention.raw, shown.uid) AS raw
  OPTIONAL MATCH (entity:Named {uid: raw})
  RETURN collect(entity.name) + collect(mention.spelled) AS mentioned
}
CALL (chunk) {
  OPTIONAL MATCH (triple:Triple)-[evidence:EVIDENCE]->(chunk)
  WITH evidence, coalesce(evidence.raw, triple.uid) AS raw
  OPTIONAL MATCH (fact:Fact {uid: raw})
  RETURN collect(fact.said_subject) + collect(fact.said_object) + collect(evidence.spelled)
         + collect(evidence.said_by) AS stated
}
CALL (chunk) {
  OPTIONAL MATCH (alias:Alias)-[source:STATED_IN]->(chunk)
  RETURN collect(alias.name) + collect(source.spelled) AS aliases
}
RETURN chunk.uid, mentioned + stated + aliases
