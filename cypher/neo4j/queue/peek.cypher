// what: read the chunks of a session in some states, in the form in which a lease returns them
// parameters: session (uid), states, context
// returns: as parts/lease; no row if there are no such chunks and no summary is due
MATCH (session:Session {uid: $session})
CALL (session) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(session_uid, state, at, seq)
  WHERE chunk.session_uid = session.uid AND chunk.state IN $states AND chunk.at IS NOT NULL
    AND chunk.seq IS NOT NULL
  WITH chunk ORDER BY chunk.at, chunk.seq
  RETURN collect(chunk) AS chunks
}
WITH session, chunks
WHERE size(chunks) > 0 OR session.summary_state = 'pending'
// part: lease
