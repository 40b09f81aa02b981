// what: append chunks to a message that has become longer
// parameters: space, session (uid), last (uid of its last chunk so far), chunks: [{properties, vector, ranking (packed)}]
MATCH (space:Space {name: $space})
WITH space, CASE WHEN space.seq < timestamp() * 1000 THEN timestamp() * 1000 ELSE space.seq END AS base
SET space.chunk_covered =
      coalesce(space.chunk_covered, CASE WHEN space.chunk_indexed THEN space.seq ELSE 0 END),
    space.chunk_tail = coalesce(space.chunk_tail, 0) + size($chunks),
    space.seq = base + size($chunks)
WITH base, $session AS uid
MATCH (session:Session {uid: uid})
WITH session, base, $last AS uid
MATCH (last:Chunk {uid: uid})
OPTIONAL MATCH (last)-[old:NEXT]->(after:Chunk)
DELETE old
WITH session, base, last, after
CALL (session, base) {
  UNWIND range(0, size($chunks) - 1) AS place
  WITH session, base, place, $chunks[place] AS new
  CREATE (chunk:Chunk {uid: new.properties.uid})
  SET chunk += new.properties, chunk.seq = base + place + 1
  CREATE (session)-[:HAS_CHUNK]->(chunk)
  WITH chunk, new
  CALL (chunk, new) {
    WITH chunk, new WHERE new.vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(chunk, 'embedding', new.vector)
  }
  SET chunk.packed = new.ranking
  RETURN collect(chunk) AS chunks
}
WITH [last] + chunks + CASE WHEN after IS NULL THEN [] ELSE [after] END AS chain
UNWIND range(1, size(chain) - 1) AS place
WITH chain[place - 1] AS before, chain[place] AS next
CREATE (before)-[:NEXT]->(next)
