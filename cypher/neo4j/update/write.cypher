// what: write new texts into chunks, which keep their arrival numbers, labels and neighbours
// parameters: space, more and length (increases of its chunks and terms), chunks: [{old (uid), properties, vector, ranking (packed)}]
MATCH (space:Space {name: $space})
SET space.epoch = coalesce(space.epoch, 0) + 1, space.chunks = space.chunks + $more,
    space.length = space.length + $length
WITH space
UNWIND $chunks AS row
MATCH (chunk:Chunk {uid: row.old})
WITH row, chunk, chunk.seq AS seq
SET chunk = row.properties, chunk.seq = seq
WITH row, chunk
CALL (row, chunk) {
  WITH row, chunk WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(chunk, 'embedding', row.vector)
}
SET chunk.packed = row.ranking
