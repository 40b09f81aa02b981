// what: list all entities, as extracted, whose names have vectors
// returns: uid, name, normalised name, type, canonical uid, vector (bytes)
MATCH (shown:Entity) USING INDEX shown:Entity(space)
WHERE shown.space = $space
OPTIONAL MATCH (shown)<-[:SAME_AS]-(member:Named)
WITH shown, collect(member) AS members
UNWIND [shown] + members AS entity
WITH shown, entity WHERE entity.embedding IS NOT NULL
RETURN entity.uid, entity.name, entity.normalised, entity.type, shown.uid, entity.embedding
