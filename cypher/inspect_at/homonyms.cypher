// what: the query homonyms, of what had been said by a time
// parameters: those of homonyms, as_of: time
MATCH (e:Entity)
WHERE EXISTS { MATCH (e)<-[:MENTIONS]-(c:Chunk) WHERE c.at <= $as_of }
   OR EXISTS { MATCH (e)<-[:SUBJECT|OBJECT]-(t:Triple) WHERE t.first_observed <= $as_of }
WITH toLower(e.name) AS name, e.name AS spelling, e.type AS type
ORDER BY type, spelling
WITH name, collect(DISTINCT type) AS types, collect(DISTINCT spelling) AS spellings
WHERE size(types) > 1
RETURN name, types, spellings
ORDER BY name
LIMIT $top
