// what: the query facts-of-session, of what had been said by a time
// parameters: those of facts-of-session, as_of: time
MATCH (t:Triple)-[source:EVIDENCE]->(c:Chunk)<-[:HAS_CHUNK]-(s:Session {id: $session})
WHERE source.observed_at <= $as_of
RETURN DISTINCT t.subject AS subject, t.relation AS relation, t.object AS object, t.when AS when,
       t.negated AS negated, t.first_observed AS first_observed
ORDER BY first_observed, subject, relation, object, when, negated
