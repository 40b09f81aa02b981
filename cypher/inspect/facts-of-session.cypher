// what: the facts for which a session contains evidence, in the order of first observation
// parameters: session: string
// returns: subject, relation, object, when, negated, first_observed
MATCH (t:Triple)-[:IN_SESSION]->(s:Session {id: $session})
RETURN t.subject AS subject, t.relation AS relation, t.object AS object, t.when AS when,
       t.negated AS negated, t.first_observed AS first_observed
ORDER BY first_observed, subject, relation, object, when, negated
