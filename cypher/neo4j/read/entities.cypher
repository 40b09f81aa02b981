// what: entities, those with most triples first
// parameters: space, match (normalised, or null), skip, limit
// returns: name, type, triples, mentions
MATCH (entity:Entity) USING INDEX entity:Entity(space)
WHERE entity.space = $space AND ($match IS NULL OR entity.normalised CONTAINS $match)
WITH entity,
     COUNT { (entity)<-[:SUBJECT]-() } + COUNT { (entity)<-[:OBJECT]-() } - entity.loops AS triples,
     COUNT { (entity)<-[:MENTIONS]-() } AS mentions
ORDER BY triples DESC, mentions DESC, entity.normalised, entity.type SKIP $skip LIMIT $limit
RETURN entity.name, entity.type, triples, mentions
