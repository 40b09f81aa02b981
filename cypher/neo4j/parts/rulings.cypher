// what: what users said of a triple and of its duplicates
// takes: triple
// gives: ruling
CALL (triple) {
  MATCH (ruling:StateRuling {uid: triple.uid})
  RETURN ruling
  UNION
  MATCH (triple)<-[:SAME_AS]-(variant:TripleVariant)
  WITH variant.uid AS same
  MATCH (ruling:StateRuling {uid: same})
  RETURN ruling
}
