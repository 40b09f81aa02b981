// what: entities mentioned in the same chunks as an entity, most frequent first
// parameters: entity: string, top: integer = 25
// returns: other, type, chunks
MATCH (e:Entity)<-[:MENTIONS]-(c:Chunk)-[:MENTIONS]->(other:Entity)
WHERE toLower(e.name) = toLower($entity)
// as_of:   AND c.at <= $as_of
RETURN other.name AS other, other.type AS type, count(DISTINCT c) AS chunks
ORDER BY chunks DESC, other, type
LIMIT $top
