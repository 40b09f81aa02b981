// what: entities of a database that was written before entities were resolved, a few at a time
// parameters: limit
// returns: space, uids
MATCH (entity:Entity) USING INDEX entity:Entity(space)
WHERE entity.space > '' AND NOT entity:Named
WITH entity LIMIT $limit
SET entity:Named
RETURN entity.space, collect(entity.uid)
