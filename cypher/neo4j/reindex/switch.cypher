// what: put another embedder and its vectors into use as soon as this transaction commits
// parameters: generation, embedder, dimension, stale (the property of the old vectors)
MATCH (meta:CogniGraph {uid: 'cognigraph'})
SET meta.generation = $generation, meta.embedder = $embedder, meta.dimension = $dimension,
    meta.stale = $stale, meta.next = null
