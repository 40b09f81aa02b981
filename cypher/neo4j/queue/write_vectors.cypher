// what: write the vectors of chunks that waited for them, unless their text has changed since
// parameters: rows: [{uid, digest, vector (null for the zero vector), ranking (packed)}] sorted by uid
UNWIND $rows AS row
MATCH (chunk:Chunk {uid: row.uid})
WHERE chunk.digest = row.digest AND chunk.unembedded IS NOT NULL
SET chunk.unembedded = null
WITH chunk, row
CALL (chunk, row) {
  WITH chunk, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(chunk, 'embedding', row.vector)
}
SET chunk.packed = row.ranking
