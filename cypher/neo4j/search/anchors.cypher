// what: find entities by their stemmed names and aliases, each with its triples most similar to the
//   question; a hub with more than `most` triples is left to the vector index
// parameters: space, anchors (hashes), names (stemmed), vector, limit, most, until (or null)
// returns: uid, name, triples (uids), whether it is a hub; sorted by uid
UNWIND $anchors AS anchor
CALL (anchor) {
  MATCH (entity:Entity {anchor: anchor})
  WHERE entity.space = $space AND entity.key IN $names
  RETURN entity
  UNION
  MATCH (alias:Alias {anchor: anchor})-[:SAME_AS]->(entity:Entity)
  WHERE alias.space = $space AND alias.key IN $names
  RETURN entity
}
WITH DISTINCT entity
WITH entity, COUNT { (entity)<-[:SUBJECT]-() } + COUNT { (entity)<-[:OBJECT]-() } > $most AS hub
CALL (entity, hub) {
  WITH entity, hub WHERE NOT hub
  MATCH (entity)<-[:SUBJECT|OBJECT]-(triple:Triple)
  WHERE $until IS NULL OR triple.first_observed <= $until
  WITH DISTINCT triple
  WITH triple, coalesce(vector.similarity.cosine(triple.embedding, $vector), 0.5) AS score
  ORDER BY score DESC, triple.last_observed DESC, triple.uid LIMIT $limit
  RETURN collect(triple.uid) AS triples
}
RETURN entity.uid, entity.name, triples, hub ORDER BY entity.uid
