// what: delete triples
// parameters: triples (uids)
// returns: how many, their length in terms, uids of their entities
UNWIND $triples AS uid
MATCH (triple:Triple {uid: uid})
MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
SET subject.loops = subject.loops - CASE WHEN subject = object THEN 1 ELSE 0 END
WITH collect(triple) AS gone, sum(triple.length) AS length,
     collect(subject.uid) + collect(object.uid) AS entities
FOREACH (triple IN gone | DETACH DELETE triple)
RETURN size(gone), length, entities
