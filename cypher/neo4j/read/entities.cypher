// what: list entities, those with most triples first
// parameters: space, match (normalised, or null), skip, limit
MATCH (entity:Entity) USING INDEX entity:Entity(space)
WHERE entity.space = $space
  AND ($match IS NULL OR entity.normalised CONTAINS $match
       OR EXISTS { MATCH (entity)<-[:SAME_AS]-(other:Alias) WHERE other.normalised CONTAINS $match })
WITH entity,
     COUNT { (entity)<-[:SUBJECT]-() } + COUNT { (entity)<-[:OBJECT]-() } - entity.loops AS triples,
     CASE WHEN entity.shown_uid IS NULL THEN COUNT { (entity)<-[:MENTIONS]-() }
          ELSE COUNT { MATCH (entity)<-[:MENTIONS]-(chunk) RETURN DISTINCT chunk } END AS mentions
ORDER BY triples DESC, mentions DESC, entity.normalised, entity.type SKIP $skip LIMIT $limit
RETURN entity.name, entity.type, triples, mentions,
       COLLECT { MATCH (entity)<-[:SAME_AS]-(alias:Alias) RETURN DISTINCT alias.name }
