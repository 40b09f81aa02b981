// what: read a space's totals, and the terms of the next chunks that arrived since an arrival number
// parameters: space, since (arrival number), most (number of chunks), kept (uid of the node with the
//   word counts that are kept, or null): what these have is not counted, whatever since is
// returns: seq (of the last chunk that was counted), chunks, length, chunk_indexed, covered (arrival number up to which chunks are in
//   the space's own vector index), triples, triple length, triple_indexed,
//   theme_indexed, new chunks, terms, new chunks with each term, generation of the embedder, its
//   name and dimension, epoch (how often chunks were rewritten), kept word counts (or null), arrival
//   number after which chunks were counted
MATCH (space:Space {name: $space})
OPTIONAL MATCH (facts:SpaceFacts {name: $space})
OPTIONAL MATCH (kept:CogniGraph {uid: $kept})
WITH space, facts, CASE WHEN kept.seq <= space.seq THEN kept END AS kept
WITH kept.words AS kept, coalesce(kept.seq, $since) AS since, coalesce(space.epoch, 0) AS epoch, space.seq AS seq, space.chunks AS chunks, space.length AS length,
     space.chunk_indexed AS chunk_indexed, coalesce(space.chunk_covered, space.seq) AS covered,
     coalesce(facts.triples, 0) AS triples,
     coalesce(facts.length, 0) AS triple_length,
     coalesce(facts.triple_indexed, false) AS triple_indexed,
     coalesce(facts.theme_indexed, false) AS theme_indexed
CALL (seq, since) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, seq)
  WHERE chunk.space = $space AND chunk.seq > since AND chunk.seq <= seq
  WITH chunk ORDER BY chunk.space, chunk.seq LIMIT $most
  RETURN count(chunk) AS fresh, max(chunk.seq) AS last
}
CALL (last, fresh, since) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, seq)
  WHERE chunk.space = $space AND chunk.seq > since AND chunk.seq <= last AND fresh > 0
  // Not count(DISTINCT chunk), which keeps every chunk of every term in memory until the end.
  CALL (chunk) {
    UNWIND chunk.terms AS term
    RETURN DISTINCT term
  }
  WITH term, count(*) AS frequency
  RETURN collect(term) AS terms, collect(frequency) AS frequencies
}
MATCH (meta:CogniGraph {uid: 'cognigraph'})
RETURN CASE WHEN fresh < $most THEN seq ELSE last END, chunks, length, chunk_indexed, covered,
       triples, triple_length, triple_indexed, theme_indexed, fresh, terms, frequencies,
       coalesce(meta.generation, 1), meta.embedder, meta.dimension, epoch, kept, since
