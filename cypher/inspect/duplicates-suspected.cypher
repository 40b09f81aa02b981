// what: entities that may be the same but are not merged, most similar first; `merge` joins a pair
// parameters: top: integer = 50
// returns: name, type, other, other_type, score, reason
MATCH (a:Entity)-[pair:RESEMBLES]->(b:Entity)
WHERE NOT EXISTS { MATCH (a)-[:RULED]->(b) }
RETURN a.name AS name, a.type AS type, b.name AS other, b.type AS other_type,
       pair.score AS score, pair.reason AS reason
ORDER BY score DESC, name, type, other, other_type
LIMIT $top
