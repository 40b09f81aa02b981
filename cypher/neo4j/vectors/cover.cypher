// what: add the label of a space's own vector index to its newest chunks, under the space's lock
// parameters: space, labels
// returns: number of chunks
MATCH (space:Space {name: $space})
// This write takes the lock, so all arrival numbers up to seq are committed.
SET space.chunk_tail = 0
WITH space, coalesce(space.chunk_covered, 0) AS covered
CALL (space, covered) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, seq)
  WHERE chunk.space = $space AND chunk.seq > covered AND chunk.seq <= space.seq
  SET chunk:$($labels)
  RETURN count(chunk) AS chunks
}
SET space.chunk_covered = space.seq
RETURN chunks
