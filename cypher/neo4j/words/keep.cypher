// what: keep how many chunks of a space contain each term, if that is still right: the space is
//   locked, and has as many chunks up to the arrival number as were counted
// parameters: space, uid, seq (arrival number of the last chunk that was counted), chunks (that
//   were counted), epoch (how often chunks had been rewritten), kept (properties)
// returns: uid; no row, and nothing is kept, if it is not right any more
MATCH (space:Space {name: $space})
SET space.inserts = space.inserts + 1
WITH space
WHERE coalesce(space.epoch, 0) = $epoch
CALL (space) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, seq)
  WHERE chunk.space = $space AND chunk.seq > $seq
  RETURN count(chunk) AS later
}
WITH space, later
WHERE space.chunks - later = $chunks
MERGE (kept:CogniGraph {uid: $uid})
SET kept += $kept
RETURN kept.uid
