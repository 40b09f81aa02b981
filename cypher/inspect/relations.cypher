// what: all relations, most frequent first
// parameters: top: integer = 50
// returns: relation, facts
MATCH (t:Triple)
RETURN t.relation AS relation, count(t) AS facts
ORDER BY facts DESC, relation
LIMIT $top
