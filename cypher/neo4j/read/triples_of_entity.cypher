// what: list the triples whose subject or object is an entity, given by name or alias, most
//   recently observed first
// parameters: space, name_hash, normalised, skip, limit, and those of parts/fact_filter
// returns: as parts/fact
// part: entities_called
MATCH (entity)<-[:SUBJECT|OBJECT]-(triple:Triple)
WHERE
// part: fact_filter
WITH DISTINCT triple
ORDER BY triple.last_observed DESC, triple.uid SKIP $skip LIMIT $limit
MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
// part: fact_sources
// part: fact
ORDER BY triple.last_observed DESC, triple.uid
