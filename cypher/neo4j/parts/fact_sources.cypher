// what: all sources of a triple
// takes: triple
// gives: sources [[observed_at in microseconds, message_id, session, said_by, stated]]
CALL (triple) {
  MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
  RETURN collect([micros(evidence.observed_at), chunk.message_id, chunk.session, evidence.said_by,
                  chunk.facts IS NOT NULL]) AS sources
}
