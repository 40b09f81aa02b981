// what: give a space's newest chunks the label of its own vector index, under the space's lock
// parameters: space, labels
// returns: how many
MATCH (space:Space {name: $space})
// This takes the lock: all arrival numbers up to seq are committed.
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
