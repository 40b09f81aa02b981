// what: list triples, most recently observed first
// parameters: space, until (or null), skip, limit
// returns: uid, subject, subject type, relation, object, object type, when, negated,
//   first_observed and last_observed in microseconds,
//   sources [[observed_at, message_id, session, said_by]], status, valid_from, valid_to, uid of
//   the triple that supersedes it, superseded_at, reason
MATCH (triple:Triple) USING INDEX triple:Triple(space, last_observed)
WHERE triple.space = $space AND triple.last_observed IS NOT NULL
  AND ($until IS NULL OR triple.first_observed <= $until)
WITH triple ORDER BY triple.last_observed DESC, triple.uid SKIP $skip LIMIT $limit
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
