// what: the query relations, of what had been said by a time
// parameters: those of relations, as_of: time
MATCH (t:Triple)
WHERE t.first_observed <= $as_of
RETURN t.relation AS relation, count(t) AS facts
ORDER BY facts DESC, relation
LIMIT $top
