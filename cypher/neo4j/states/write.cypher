// what: set which triples are current, and what supersedes the others
// parameters: rows: [{uid, properties: {status, valid_from, valid_to, superseded_at, decided_by,
//   reason}, superseded_by (uid or null)}]
UNWIND $rows AS row
MATCH (triple:Triple {uid: row.uid})
SET triple += row.properties
WITH row, triple
CALL (triple) {
  MATCH (:Fact)-[old:SUPERSEDES]->(triple)
  DELETE old
}
WITH row, triple, row.superseded_by AS one
MATCH (by:Triple {uid: one})
CREATE (by)-[:SUPERSEDES {at: row.properties.superseded_at, by: row.properties.decided_by,
                          reason: row.properties.reason}]->(triple)
