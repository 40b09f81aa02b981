// what: read triples by uid
// parameters: space, uids
// returns: as triples
UNWIND $uids AS uid
MATCH (triple:Triple {uid: uid})
WHERE triple.space = $space
MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
CALL (triple) {
  MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
  RETURN collect([evidence.observed_at.epochSeconds * 1000000 + evidence.observed_at.microsecond,
                  chunk.message_id, chunk.session, evidence.said_by,
                  chunk.facts IS NOT NULL]) AS sources
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
       triple.reason, triple.earlier
