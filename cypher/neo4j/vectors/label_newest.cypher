// what: add the label of a space's own vector index to chunks that are not in it yet. It does not
//   take the lock of the space, so inserts go on meanwhile
// parameters: space, labels, covered and until (arrival numbers of committed chunks)
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, seq)
WHERE chunk.space = $space AND chunk.seq > $covered AND chunk.seq <= $until
SET chunk:$($labels)
