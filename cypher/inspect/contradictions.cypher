// name: contradictions
// what: subjects with the same relation to different objects, and facts both stated and denied;
//   for a relation that can hold for several objects (likes) this is not a contradiction
// parameters: top: integer = 50
// returns: subject, relation, objects, facts
MATCH (t:Triple)-[:SUBJECT]->(e:Entity)
WITH e.uid AS entity, e.name AS subject, t.relation AS relation, t.object AS object,
     t.negated AS negated
ORDER BY object
WITH entity, subject, relation, collect(DISTINCT object) AS objects, count(object) AS facts,
     count(DISTINCT negated) AS polarities
WHERE size(objects) > 1 OR polarities > 1
RETURN subject, relation, objects, facts
ORDER BY facts DESC, subject, relation
LIMIT $top
