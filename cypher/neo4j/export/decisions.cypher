// what: list what users decided on entities of a space, in that order
// returns: name and type of both, verdict, name and type of the canonical one
CALL () {
  MATCH (entity:Entity) USING INDEX entity:Entity(space)
  WHERE entity.space = $space
  RETURN entity
  UNION
  MATCH (entity:Alias) USING INDEX entity:Alias(space)
  WHERE entity.space = $space
  RETURN entity
}
MATCH (entity)-[ruling:RULED]->(other:Named)
WITH entity, ruling, other, CASE WHEN ruling.into = entity.uid THEN entity ELSE other END AS into
RETURN entity.name, entity.type, other.name, other.type, ruling.verdict, into.name, into.type
ORDER BY ruling.at, entity.uid, other.uid
