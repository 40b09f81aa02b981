// name: contradictions
// what: a subject with the same relation to different objects, or a fact both stated and denied
// parameters: top: integer = 50
// returns: subject, relation, objects, facts
MATCH (t:Triple)-[:SUBJECT]->(e:Entity)
WITH e, t.relation AS relation, collect(DISTINCT t.object) AS objects, count(t) AS facts,
     count(DISTINCT t.negated) AS polarities
WHERE size(objects) > 1 OR polarities > 1
RETURN e.name AS subject, relation, objects, facts
ORDER BY facts DESC, subject, relation
LIMIT $top
