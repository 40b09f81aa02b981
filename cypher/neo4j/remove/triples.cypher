// what: delete triples of a space, with their duplicates and what users said of them
MATCH (triple:Triple) USING INDEX triple:Triple(space, seq)
WHERE triple.space = $space AND triple.seq > 0
WITH triple LIMIT $limit
OPTIONAL MATCH (triple)<-[:SAME_AS]-(variant:TripleVariant)
WITH collect(DISTINCT triple) AS triples, collect(variant) AS variants
CALL (triples, variants) {
  UNWIND triples + variants AS fact
  WITH fact.uid AS uid
  MATCH (ruling:StateRuling {uid: uid})
  DETACH DELETE ruling
}
FOREACH (variant IN variants | DETACH DELETE variant)
FOREACH (triple IN triples | DETACH DELETE triple)
RETURN size(triples)
