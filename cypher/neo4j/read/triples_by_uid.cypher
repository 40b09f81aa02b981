// what: read triples by uid
// returns: as parts/fact
UNWIND $uids AS uid
MATCH (triple:Triple {uid: uid})
WHERE triple.space = $space
MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
// part: fact_sources
// part: fact
