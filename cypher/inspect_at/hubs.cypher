// what: the query hubs, of what had been said by a time
// parameters: those of hubs, as_of: time
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)
WHERE t.first_observed <= $as_of
RETURN e.name AS entity, e.type AS type, count(DISTINCT t) AS facts
ORDER BY facts DESC, entity, type
LIMIT $top
