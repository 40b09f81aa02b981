// what: the next names with a vector in a property
// parameters: property, by (the property of who made it), limit
// returns: uid, embedder
MATCH (entity:Named)
WHERE entity.uid > '' AND entity[$property] IS NOT NULL
RETURN entity.uid, entity[$by] LIMIT $limit
