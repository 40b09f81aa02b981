// what: delete triples as extracted
// parameters: triples (uids)
// returns: number of triples deleted, their total length in terms
UNWIND $triples AS uid
MATCH (triple:Fact {uid: uid})
CALL (triple) {
  MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
  SET subject.loops = subject.loops - CASE WHEN subject = object THEN 1 ELSE 0 END
}
WITH collect(triple) AS gone, sum(triple.length) AS length
FOREACH (triple IN gone | DETACH DELETE triple)
RETURN size(gone), length
