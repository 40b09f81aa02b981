// what: the query co-mentioned, of what had been said by a time
// parameters: those of co-mentioned, as_of: time
MATCH (e:Entity)<-[:MENTIONS]-(c:Chunk)-[:MENTIONS]->(other:Entity)
WHERE toLower(e.name) = toLower($entity) AND c.at <= $as_of
RETURN other.name AS other, other.type AS type, count(DISTINCT c) AS chunks
ORDER BY chunks DESC, other, type
LIMIT $top
