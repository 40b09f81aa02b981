// what: all relations, most frequent first
// parameters: top: integer = 50
// returns: relation, facts
MATCH (t:Triple)
// as_of: WHERE t.first_observed <= $as_of
RETURN t.relation AS relation, count(t) AS facts
ORDER BY facts DESC, relation
LIMIT $top
