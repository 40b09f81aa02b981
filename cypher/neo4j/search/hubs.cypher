// what: triples of entities that have very many, as far as they are near to the question
// parameters: index, fetch, vector, hubs (entity uids), until (or null)
// returns: uid of the entity, uid of the triple; nearest first
CALL db.index.vector.queryNodes($index, $fetch, $vector) YIELD node, score
WHERE $until IS NULL OR node.first_observed <= $until
MATCH (node)-[:SUBJECT|OBJECT]->(entity:Entity)
WHERE entity.uid IN $hubs
RETURN DISTINCT entity.uid, node.uid, score, node.last_observed
ORDER BY score DESC, node.last_observed DESC
