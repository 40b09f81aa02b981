// what: find entities as extracted, by name or by an alias stated in the text
// parameters: space, name_hash, normalised
// returns: uid, name, type, canonical uid; matches by name first
CALL () {
  MATCH (entity:Entity {name_hash: $name_hash})
  WHERE entity.space = $space AND entity.normalised = $normalised
  RETURN entity, 0 AS place
  UNION
  MATCH (entity:Alias {name_hash: $name_hash})
  WHERE entity.space = $space AND entity.normalised = $normalised AND entity:Named
  RETURN entity, 0 AS place
  UNION
  MATCH (alias:Alias {name_hash: $name_hash})-[:ALIAS_OF]->(entity:Named)
  WHERE alias.space = $space AND alias.normalised = $normalised
  RETURN entity, 1 AS place
}
WITH entity, min(place) AS place
RETURN entity.uid, entity.name, entity.type, coalesce(entity.shown_uid, entity.uid)
ORDER BY place, entity.type, entity.uid
