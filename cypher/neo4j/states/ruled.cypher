// what: find the triples that users spoke of, or of their duplicates, among some without a slot
// parameters: uids
// returns: uid
UNWIND $uids AS uid
MATCH (triple:Triple {uid: uid})
WHERE triple.slot IS NULL
CALL (triple) {
  MATCH (ruling:StateRuling {uid: triple.uid})
  RETURN ruling
  UNION
  MATCH (triple)<-[:SAME_AS]-(variant:TripleVariant)
  WITH variant.uid AS same
  MATCH (ruling:StateRuling {uid: same})
  RETURN ruling
}
RETURN DISTINCT triple.uid
