// what: the most recently observed facts
// parameters: top: integer = 25
// returns: subject, relation, object, when, negated, first_observed, last_observed
MATCH (t:Triple)
RETURN t.subject AS subject, t.relation AS relation, t.object AS object, t.when AS when,
       t.negated AS negated, t.first_observed AS first_observed, t.last_observed AS last_observed
ORDER BY last_observed DESC, subject, relation, object, when, negated
LIMIT $top
