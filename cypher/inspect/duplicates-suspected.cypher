// what: entities that may be the same but are not merged, most similar first; `merge` joins a pair
// parameters: top: integer = 50
// returns: name, type, other, other_type, score, reason
MATCH (a:Entity)-[pair:RESEMBLES]->(b:Entity)
WHERE NOT EXISTS { MATCH (a)-[:RULED]->(b) }
// as_of:   AND (EXISTS { MATCH (a)<-[:MENTIONS]-(c:Chunk) WHERE c.at <= $as_of }
// as_of:        OR EXISTS { MATCH (a)<-[:SUBJECT|OBJECT]-(t:Triple) WHERE t.first_observed <= $as_of })
// as_of:   AND (EXISTS { MATCH (b)<-[:MENTIONS]-(c:Chunk) WHERE c.at <= $as_of }
// as_of:        OR EXISTS { MATCH (b)<-[:SUBJECT|OBJECT]-(t:Triple) WHERE t.first_observed <= $as_of })
RETURN a.name AS name, a.type AS type, b.name AS other, b.type AS other_type,
       pair.score AS score, pair.reason AS reason
ORDER BY score DESC, name, type, other, other_type
LIMIT $top
