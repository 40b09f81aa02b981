// what: make triples canonical: link them to their canonical subjects and objects, and set observed
//   time and sessions from their evidence
//   (a triple between two names of one entity keeps the names that were said)
// parameters: rows: [{uid, subject, object (uids)}], labels (of the space's own index)
UNWIND $rows AS row
MATCH (triple:Fact {uid: row.uid})
WITH row, triple, row.subject AS one
MATCH (subject:Entity {uid: one})
WITH row, triple, subject, row.object AS other
MATCH (object:Entity {uid: other})
REMOVE triple:TripleVariant
SET triple:Triple, triple:$($labels), triple.subject_uid = subject.uid,
    triple.object_uid = object.uid,
    triple.subject = CASE WHEN subject.shown_uid IS NULL OR subject = object THEN triple.said_subject
                          ELSE subject.name END,
    triple.object = CASE WHEN object.shown_uid IS NULL OR subject = object THEN triple.said_object
                         ELSE object.name END,
    subject.loops = subject.loops + CASE WHEN subject = object THEN 1 ELSE 0 END
CREATE (triple)-[:SUBJECT]->(subject)
CREATE (triple)-[:OBJECT]->(object)
WITH triple
CALL (triple) {
  MATCH (triple)-[evidence:EVIDENCE]->(:Chunk)
  WITH triple, min(evidence.observed_at) AS first, max(evidence.observed_at) AS last
  SET triple.first_observed = coalesce(first, triple.first_observed),
      triple.last_observed = coalesce(last, triple.last_observed)
}
CALL (triple) {
  MATCH (triple)-[:EVIDENCE]->(chunk:Chunk)
  WITH DISTINCT triple, chunk.session_uid AS uid
  MATCH (session:Session {uid: uid})
  MERGE (triple)-[:IN_SESSION]->(session)
}
