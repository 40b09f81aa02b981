// what: what wrote this database
// parameters: none
// returns: schema_version, embedder, dimension, analyzer, generation; no row in a database that is not ours yet
MATCH (meta:CogniGraph {uid: 'cognigraph'})
RETURN meta.schema_version, meta.embedder, meta.dimension, meta.analyzer, coalesce(meta.generation, 1)
