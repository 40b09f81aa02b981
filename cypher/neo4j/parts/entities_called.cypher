// what: the canonical entities that a name or alias stands for
// takes: $space, $name_hash, $normalised
// gives: entity
CALL () {
  MATCH (entity:Entity {name_hash: $name_hash})
  WHERE entity.space = $space AND entity.normalised = $normalised
  RETURN entity
  UNION
  MATCH (alias:Alias {name_hash: $name_hash})-[:SAME_AS]->(entity:Entity)
  WHERE alias.space = $space AND alias.normalised = $normalised
  RETURN entity
}
