// what: read how each chunk spells some entities; only entities whose current spelling comes from a
//   chunk of some moments
// parameters: entities (uids), instants (what a spelling of these moments begins with)
// returns: uid, normalised name, name, [[moment in microseconds, spelling]] of mentions, and
//   [[moment, spelling, is subject, is object]] of evidence
UNWIND $entities AS uid
MATCH (entity:Named {uid: uid})
WHERE left(entity.spelled, 19) IN $instants
WITH entity, coalesce(entity.shown_uid, entity.uid) AS home
MATCH (shown:Named {uid: home})
CALL (entity, shown) {
  OPTIONAL MATCH (shown)<-[mention:MENTIONS]-(chunk:Chunk)
  WHERE coalesce(mention.raw, shown.uid) = entity.uid
  WITH chunk.at AS at, mention.spelled AS spelled WHERE at IS NOT NULL
  RETURN collect([micros(at), spelled]) AS mentions
}
CALL (entity, shown) {
  OPTIONAL MATCH (shown)<-[:SUBJECT|OBJECT]-(triple:Triple)
  OPTIONAL MATCH (triple)<-[:SAME_AS]-(folded:TripleVariant)
  WITH entity, triple, collect(folded) AS folded
  UNWIND [triple] + folded AS read
  WITH entity, triple, read WHERE entity.uid IN [read.raw_subject, read.raw_object]
  MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
  WHERE coalesce(evidence.raw, triple.uid) = read.uid
  RETURN collect([micros(chunk.at), evidence.spelled, read.raw_subject = entity.uid,
                  read.raw_object = entity.uid]) AS ends
}
RETURN entity.uid, entity.normalised, entity.name, mentions, ends
