// what: the query about, of what had been said by a time
// parameters: those of about, as_of: time
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)-[source:EVIDENCE]->(c:Chunk)
WHERE toLower(e.name) = toLower($entity) AND source.observed_at <= $as_of
RETURN t.subject AS subject, t.relation AS relation, t.object AS object, t.when AS when,
       t.negated AS negated, max(source.observed_at) AS last_observed,
       count(DISTINCT c) AS sources
ORDER BY last_observed DESC, subject, relation, object, when, negated
