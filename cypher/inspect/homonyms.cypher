// what: names shared by entities of different types, which are never merged automatically
// parameters: top: integer = 50
// returns: name, types, spellings
MATCH (e:Entity)
// as_of: WHERE EXISTS { MATCH (e)<-[:MENTIONS]-(c:Chunk) WHERE c.at <= $as_of }
// as_of:    OR EXISTS { MATCH (e)<-[:SUBJECT|OBJECT]-(t:Triple) WHERE t.first_observed <= $as_of }
WITH toLower(e.name) AS name, e.name AS spelling, e.type AS type
ORDER BY type, spelling
WITH name, collect(DISTINCT type) AS types, collect(DISTINCT spelling) AS spellings
WHERE size(types) > 1
RETURN name, types, spellings
ORDER BY name
LIMIT $top
