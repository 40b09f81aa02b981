// what: all facts about an entity, newest first, with their number of sources
// parameters: entity: string
// returns: subject, relation, object, when, negated, last_observed, sources
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)-[source:EVIDENCE]->(c:Chunk)
WHERE toLower(e.name) = toLower($entity)
// as_of:   AND source.observed_at <= $as_of
RETURN t.subject AS subject, t.relation AS relation, t.object AS object, t.when AS when,
       t.negated AS negated, max(source.observed_at) AS last_observed,
       count(DISTINCT c) AS sources
ORDER BY last_observed DESC, subject, relation, object, when, negated
