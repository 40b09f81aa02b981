// what: the query newest-facts, of what had been said by a time
// parameters: those of newest-facts, as_of: time
MATCH (t:Triple)-[source:EVIDENCE]->(c:Chunk)
WHERE source.observed_at <= $as_of
WITH t, max(source.observed_at) AS last_observed
RETURN t.subject AS subject, t.relation AS relation, t.object AS object, t.when AS when,
       t.negated AS negated, t.first_observed AS first_observed, last_observed
ORDER BY last_observed DESC, subject, relation, object, when, negated
LIMIT $top
