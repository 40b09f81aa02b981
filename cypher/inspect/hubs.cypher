// what: the entities with the most facts
// parameters: top: integer = 25
// returns: entity, type, facts
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)
// as_of: WHERE t.first_observed <= $as_of
RETURN e.name AS entity, e.type AS type, count(DISTINCT t) AS facts
ORDER BY facts DESC, entity, type
LIMIT $top
