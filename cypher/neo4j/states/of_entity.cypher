// what: list the triples about slots of an entity, given by name or alias, and those that a user
//   spoke of, oldest first
// parameters: space, name_hash, normalised
// returns: uid
CALL () {
  MATCH (entity:Entity {name_hash: $name_hash})
  WHERE entity.space = $space AND entity.normalised = $normalised
  RETURN entity
  UNION
  MATCH (alias:Alias {name_hash: $name_hash})-[:SAME_AS]->(entity:Entity)
  WHERE alias.space = $space AND alias.normalised = $normalised
  RETURN entity
}
MATCH (entity)<-[:SUBJECT|OBJECT]-(triple:Triple)
WHERE triple.holder = entity.uid
   OR (triple.subject_uid = entity.uid
       AND (triple.slot IS NOT NULL OR triple.decided_by IS NOT NULL))
WITH DISTINCT triple ORDER BY triple.first_observed, triple.uid
RETURN triple.uid
