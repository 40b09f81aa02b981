// what: empty the reasons that users gave for what they said of some triples
// parameters: rulings (uids of triples)
// returns: uids of the canonical triples
UNWIND $rulings AS uid
MATCH (ruling:StateRuling {uid: uid})
SET ruling.reason = ''
WITH uid
MATCH (triple:Fact {uid: uid})
OPTIONAL MATCH (triple)-[:SAME_AS]->(canonical:Fact)
RETURN DISTINCT coalesce(canonical.uid, triple.uid)
