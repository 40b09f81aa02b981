// what: record that a space's chunks up to an arrival number are in its own vector index
MATCH (space:Space {name: $space})
SET space.chunk_indexed = true, space.chunk_covered = $covered, space.chunk_tail = 0
