// what: list the triples about slots of an entity, given by name or alias, and those that a user
//   spoke of, oldest first
// part: entities_called
MATCH (entity)<-[:SUBJECT|OBJECT]-(triple:Triple)
WHERE triple.holder = entity.uid
   OR (triple.subject_uid = entity.uid
       AND (triple.slot IS NOT NULL OR triple.decided_by IS NOT NULL))
WITH DISTINCT triple ORDER BY triple.first_observed, triple.uid
RETURN triple.uid
