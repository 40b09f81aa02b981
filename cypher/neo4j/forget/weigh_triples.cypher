// what: count the evidence of triples
// parameters: triples (uids)
// returns: uid, evidence
UNWIND $triples AS uid
MATCH (triple:Triple {uid: uid})
RETURN uid, COUNT { (triple)-[:EVIDENCE]->(:Chunk) }
