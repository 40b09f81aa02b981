// what: list triples, most recently observed first
// parameters: space, until (or null),
//   status, slot, text (normalised), valid_at, valid_micros (all or null),
//   where (or null; see stores/neo4j/tokens.py), skip, limit
// returns: uid, subject, subject type, relation, object, object type, when, negated,
//   first_observed and last_observed in microseconds,
//   sources [[observed_at, message_id, session, said_by, stated]], status, valid_from, valid_to, uid of
//   the triple that supersedes it, superseded_at, reason,
//   earlier periods [from, until, ...] in microseconds
MATCH (triple:Triple) USING INDEX triple:Triple(space, last_observed)
WHERE triple.space = $space AND triple.last_observed IS NOT NULL
  AND ($until IS NULL OR triple.first_observed <= $until)
  AND ($status IS NULL OR coalesce(triple.status, 'current') = $status)
  AND ($slot IS NULL OR replace(replace(triple.slot, '<', ''), '|', ' ') = $slot
       OR replace(replace(triple.slot, '<', ''), '|', ' ') STARTS WITH $slot + ' ')
  AND ($text IS NULL
       OR toLower(triple.subject + ' ' + triple.relation + ' ' + triple.object) CONTAINS $text)
  AND ($valid_at IS NULL OR (coalesce(triple.status, 'current') <> 'retracted'
       AND ((coalesce(triple.valid_from, triple.first_observed) <= $valid_at
             AND (triple.valid_to IS NULL OR $valid_at < triple.valid_to))
            OR any(i IN range(0, size(coalesce(triple.earlier, [])) - 1, 2)
                   WHERE triple.earlier[i] <= $valid_micros
                     AND $valid_micros < triple.earlier[i + 1]))))
  AND ($where IS NULL OR EXISTS {
    MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
    WHERE ($until IS NULL OR evidence.observed_at <= $until)
      AND coalesce(chunk.role, 'person') IN $where.roles
      AND ($where.sessions IS NULL OR chunk.session IN $where.sessions)
      AND ($where.speakers IS NULL OR coalesce(chunk.speaker, '') IN $where.speakers)
      AND ($where.since IS NULL OR chunk.at >= $where.since)
      AND ($where.until IS NULL OR chunk.at <= $where.until)
      AND all(mark IN $where.marks WHERE mark IN coalesce(chunk.marks, []))
  })
WITH triple ORDER BY triple.last_observed DESC, triple.uid SKIP $skip LIMIT $limit
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
ORDER BY triple.last_observed DESC, triple.uid
