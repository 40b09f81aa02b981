// what: list pairs of entities that may be the same but are not merged, most similar first
// returns: name, type, other name, its type, score, reason
MATCH (entity:Entity) USING INDEX entity:Entity(space)
WHERE entity.space = $space
OPTIONAL MATCH (entity)<-[:SAME_AS]-(member:Named)
WITH entity, collect(member) AS members
UNWIND [entity] + members AS a
MATCH (a)-[pair:RESEMBLES]->(b:Named)
WHERE coalesce(b.shown_uid, b.uid) <> entity.uid AND NOT EXISTS { (a)-[:RULED]->(b) }
RETURN a.name, a.type, b.name, b.type, pair.score AS score, pair.reason
ORDER BY score DESC, a.uid, b.uid SKIP $skip LIMIT $limit
