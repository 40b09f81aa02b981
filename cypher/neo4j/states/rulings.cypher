// what: read what users said of triples and of their duplicates
// returns: kind, uid, recorded, uid of the canonical triple that supersedes it, at in microseconds,
//   reason
UNWIND $uids AS uid
MATCH (triple:Triple {uid: uid})
// part: rulings
WITH triple, ruling, ruling.superseded_by AS one
OPTIONAL MATCH (by:Fact {uid: one})
OPTIONAL MATCH (by)-[:SAME_AS]->(other:Fact)
RETURN ruling.kind, triple.uid, ruling.recorded, coalesce(other.uid, by.uid), micros(ruling.at),
       ruling.reason
