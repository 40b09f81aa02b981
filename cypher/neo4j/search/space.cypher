// what: read a space's totals, and the terms of the chunks that arrived since an arrival number
// parameters: space, since (arrival number), most (number of chunks, the newest of them)
// returns: seq, chunks, length, chunk_indexed, covered (arrival number up to which chunks are in the
//   space's own vector index), triples, triple length, triple_indexed, theme_indexed, new chunks,
//   terms, new chunks with each term, epoch (how often chunks were rewritten), generation of the
//   embedder, its name and dimension
MATCH (space:Space {name: $space})
OPTIONAL MATCH (facts:SpaceFacts {name: $space})
WITH coalesce(space.epoch, 0) AS epoch, space.seq AS seq, space.chunks AS chunks,
     space.length AS length, space.chunk_indexed AS chunk_indexed,
     coalesce(space.chunk_covered, space.seq) AS covered,
     coalesce(facts.triples, 0) AS triples,
     coalesce(facts.length, 0) AS triple_length,
     coalesce(facts.triple_indexed, false) AS triple_indexed,
     coalesce(facts.theme_indexed, false) AS theme_indexed
CALL (seq) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, seq)
  WHERE chunk.space = $space AND chunk.seq > $since AND chunk.seq <= seq
  WITH chunk ORDER BY chunk.space DESC, chunk.seq DESC LIMIT $most
  RETURN count(chunk) AS fresh, min(chunk.seq) AS first
}
CALL (seq, first) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, seq)
  WHERE chunk.space = $space AND chunk.seq >= first AND chunk.seq <= seq
  // Not count(DISTINCT chunk), which keeps every chunk of every term in memory until the end.
  CALL (chunk) {
    UNWIND chunk.terms AS term
    RETURN DISTINCT term
  }
  WITH term, count(*) AS frequency
  RETURN collect(term) AS terms, collect(frequency) AS frequencies
}
MATCH (meta:CogniGraph {uid: 'cognigraph'})
RETURN seq, chunks, length, chunk_indexed, covered, triples, triple_length, triple_indexed,
       theme_indexed, fresh, terms, frequencies, epoch, coalesce(meta.generation, 1), meta.embedder,
       meta.dimension
