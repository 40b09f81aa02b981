// what: delete what users said of those of some triples that are gone
// parameters: triples (uids)
// returns: uids of the triples that these had superseded by a user's word
UNWIND $triples AS uid
OPTIONAL MATCH (triple:Fact {uid: uid})
WITH uid, triple WHERE triple IS NULL
CALL (uid) {
  MATCH (ruling:StateRuling {uid: uid})
  RETURN ruling
  UNION
  MATCH (ruling:StateRuling) USING INDEX ruling:StateRuling(superseded_by)
  WHERE ruling.superseded_by = uid
  RETURN ruling
}
WITH collect(DISTINCT ruling) AS rulings, collect(DISTINCT ruling.uid) AS ruled
FOREACH (ruling IN rulings | DETACH DELETE ruling)
WITH ruled
UNWIND ruled AS uid
MATCH (triple:Fact {uid: uid})
OPTIONAL MATCH (triple)-[:SAME_AS]->(canonical:Fact)
RETURN DISTINCT coalesce(canonical.uid, triple.uid)
