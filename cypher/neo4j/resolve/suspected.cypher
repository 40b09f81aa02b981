// what: pairs that may be one but are shown apart, most alike first: by the letters of their names,
//   and by the vectors of one embedder where letters say nothing of them
// parameters: space, embedder, skip, limit
// returns: name, type, other name, its type, score, reason
MATCH (entity:Entity) USING INDEX entity:Entity(space)
WHERE entity.space = $space
OPTIONAL MATCH (entity)<-[:SAME_AS]-(member:Named)
WITH entity, collect(member) AS members
UNWIND [entity] + members AS a
MATCH (a)-[pair:RESEMBLES|NEAR]->(b:Named)
WHERE coalesce(b.shown_uid, b.uid) <> entity.uid AND NOT EXISTS { (a)-[:RULED]->(b) }
  AND (type(pair) = 'RESEMBLES'
       OR (pair.embedder = $embedder AND NOT EXISTS { (a)-[:RESEMBLES]->(b) }))
RETURN a.name, a.type, b.name, b.type, pair.score AS score, pair.reason
ORDER BY score DESC, a.uid, b.uid SKIP $skip LIMIT $limit
