// what: prepare the next entities of a database written before entity resolution existed
MATCH (entity:Entity) USING INDEX entity:Entity(space)
WHERE entity.space > '' AND NOT entity:Named
WITH entity LIMIT $limit
SET entity:Named
RETURN entity.space, collect(entity.uid)
