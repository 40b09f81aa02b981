// what: record, under the lock of a space, that its chunks up to an arrival number are in its own
//   vector index; those that were updated since they were labelled get the label now
// parameters: space, labels, until (arrival number of a committed chunk)
// returns: number of chunks that arrived later
MATCH (space:Space {name: $space})
// This write takes the lock, so nobody updates a chunk of the space.
SET space.chunk_tail = 0
WITH space, coalesce(space.chunk_covered, 0) AS covered
// Another process may have come further.
WITH space, covered, CASE WHEN covered < $until THEN $until ELSE covered END AS reached
CALL (covered) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, seq)
  WHERE chunk.space = $space AND chunk.seq > covered AND chunk.seq <= $until
    AND NOT $labels[0] IN labels(chunk)
  SET chunk:$($labels)
}
CALL (reached) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, seq)
  WHERE chunk.space = $space AND chunk.seq > reached
  RETURN count(chunk) AS later
}
SET space.chunk_covered = reached, space.chunk_tail = later
RETURN later
