// what: list the entities that had been spoken of by a time, those with most triples first
// parameters: space, match (normalised, or null), until, skip, limit
// returns: name, type, triples, mentions, aliases
MATCH (entity:Entity) USING INDEX entity:Entity(space)
WHERE entity.space = $space
  AND ($match IS NULL OR entity.normalised CONTAINS $match
       OR EXISTS { MATCH (entity)<-[:SAME_AS]-(other:Alias) WHERE other.normalised CONTAINS $match })
WITH entity,
     COUNT { MATCH (entity)<-[:SUBJECT|OBJECT]-(triple:Triple)
             WHERE triple.first_observed <= $until RETURN DISTINCT triple } AS triples,
     COUNT { MATCH (entity)<-[:MENTIONS]-(chunk:Chunk)
             WHERE chunk.at <= $until RETURN DISTINCT chunk } AS mentions
WHERE triples > 0 OR mentions > 0
WITH entity, triples, mentions
ORDER BY triples DESC, mentions DESC, entity.normalised, entity.type SKIP $skip LIMIT $limit
RETURN entity.name, entity.type, triples, mentions,
       COLLECT {
         MATCH (entity)<-[:SAME_AS]-(alias:Alias)
         WHERE EXISTS { MATCH (alias)-[:STATED_IN]->(chunk:Chunk) WHERE chunk.at <= $until }
            OR EXISTS { MATCH (entity)<-[mention:MENTIONS]-(chunk:Chunk)
                        WHERE mention.raw = alias.uid AND chunk.at <= $until }
            OR EXISTS { MATCH (entity)<-[:SUBJECT|OBJECT]-(triple:Triple)
                        WHERE triple.first_observed <= $until
                          AND (triple.raw_subject = alias.uid OR triple.raw_object = alias.uid) }
         RETURN DISTINCT alias.name }
