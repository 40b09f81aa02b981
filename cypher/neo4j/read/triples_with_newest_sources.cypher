// what: read triples by uid with their newest sources, and those in some chunks
// parameters: space, uids, count (of newest sources), chunks (uids), until (or null)
// returns: as triples, and the number of sources that were left out
UNWIND $uids AS uid
MATCH (triple:Triple {uid: uid})
WHERE triple.space = $space
MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
CALL (triple) {
  MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
  WHERE $until IS NULL OR evidence.observed_at <= $until
  WITH evidence, chunk ORDER BY evidence.observed_at DESC
  WITH collect({evidence: evidence, chunk: chunk}) AS found
  WITH found, found[..$count] + [one IN found[$count..] WHERE one.chunk.uid IN $chunks] AS chosen
  RETURN size(found) - size(chosen) AS older,
         [one IN chosen |
          [one.evidence.observed_at.epochSeconds * 1000000 + one.evidence.observed_at.microsecond,
           one.chunk.message_id, one.chunk.session, one.evidence.said_by,
           one.chunk.facts IS NOT NULL]] AS sources
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
       triple.reason, triple.earlier, older
