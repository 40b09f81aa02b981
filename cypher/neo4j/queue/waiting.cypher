// what: count what waits in all spaces (or in one, whose name is then compared): pending chunks,
//   leased or not, due summaries, and chunks without their vectors
// parameters: space (null for all)
// Each subquery imports the parameter, so that the planner runs one after the other.
WITH $space AS space
CALL (space) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(state, space, seq)
  WHERE chunk.state = 'pending' AND chunk.space IS NOT NULL AND chunk.seq IS NOT NULL
  RETURN count(chunk) AS chunks
}
CALL (space) {
  MATCH (session:Session) USING INDEX session:Session(summary_state, seq)
  WHERE session.summary_state = 'pending' AND session.seq > 0
    AND ($space IS NULL OR session.space = $space)
  RETURN count(session) AS summaries
}
CALL (space) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(unembedded)
  WHERE chunk.unembedded >= coalesce($space, '') AND ($space IS NULL OR chunk.unembedded = $space)
  RETURN count(chunk) AS vectors
}
RETURN chunks, summaries, vectors
