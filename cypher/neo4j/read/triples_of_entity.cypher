// what: list the triples whose subject or object is an entity, given by name or alias, most
//   recently observed first
// parameters: space, name_hash, normalised, until (or null), skip, limit
// returns: as triples
CALL () {
  MATCH (entity:Entity {name_hash: $name_hash})
  WHERE entity.space = $space AND entity.normalised = $normalised
  RETURN entity
  UNION
  MATCH (alias:Alias {name_hash: $name_hash})-[:SAME_AS]->(entity:Entity)
  WHERE alias.space = $space AND alias.normalised = $normalised
  RETURN entity
}
MATCH (entity)<-[:SUBJECT|OBJECT]-(triple:Triple)
WHERE $until IS NULL OR triple.first_observed <= $until
WITH DISTINCT triple
ORDER BY triple.last_observed DESC, triple.uid SKIP $skip LIMIT $limit
MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
CALL (triple) {
  MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
  RETURN collect([evidence.observed_at.epochSeconds * 1000000 + evidence.observed_at.microsecond,
                  chunk.message_id, chunk.session, evidence.said_by]) AS sources
}
CALL (triple) {
  OPTIONAL MATCH (by:Triple)-[:SUPERSEDES]->(triple)
  RETURN min(by.uid) AS superseded_by
}
RETURN triple.uid, triple.subject, subject.type, triple.relation, triple.object, object.type,
       triple.when, triple.negated,
       triple.first_observed.epochSeconds * 1000000 + triple.first_observed.microsecond,
       triple.last_observed.epochSeconds * 1000000 + triple.last_observed.microsecond, sources,
       coalesce(triple.status, 'current'),
       triple.valid_from.epochSeconds * 1000000 + triple.valid_from.microsecond,
       triple.valid_to.epochSeconds * 1000000 + triple.valid_to.microsecond, superseded_by,
       triple.superseded_at.epochSeconds * 1000000 + triple.superseded_at.microsecond,
       triple.reason
ORDER BY triple.last_observed DESC, triple.uid
