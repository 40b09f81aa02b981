// what: read which embedder is in use, which is being prepared, and what an earlier one left behind
// returns: generation, embedder, dimension, next (embedder and dimension), stale (a property)
MATCH (meta:CogniGraph {uid: 'cognigraph'})
RETURN coalesce(meta.generation, 1), meta.embedder, meta.dimension, meta.next, meta.stale
