// what: list triples, most recently observed first
// parameters: space, skip, limit, and those of parts/fact_filter
// returns: as parts/fact
MATCH (triple:Triple) USING INDEX triple:Triple(space, last_observed)
WHERE triple.space = $space AND triple.last_observed IS NOT NULL AND
// part: fact_filter
WITH triple ORDER BY triple.last_observed DESC, triple.uid SKIP $skip LIMIT $limit
MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
// part: fact_sources
// part: fact
ORDER BY triple.last_observed DESC, triple.uid
