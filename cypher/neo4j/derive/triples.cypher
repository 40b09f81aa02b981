// what: create new triples
// parameters: labels, triples: [{properties, subject, object (entity uids), vector, ranking (packed)}] sorted by uid
UNWIND $triples AS row
MATCH (subject:Entity {uid: row.subject})
WITH row, subject, row.object AS other
MATCH (object:Entity {uid: other})
CREATE (triple:Triple:Fact {uid: row.properties.uid})
SET triple += row.properties, triple:$($labels)
CREATE (triple)-[:SUBJECT]->(subject)
CREATE (triple)-[:OBJECT]->(object)
// Count triples whose subject and object are the same entity, so that they are not counted twice.
SET subject.loops = subject.loops + CASE WHEN subject = object THEN 1 ELSE 0 END
WITH triple, row
CALL (triple, row) {
  WITH triple, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(triple, 'embedding', row.vector)
}
SET triple.packed = row.ranking
