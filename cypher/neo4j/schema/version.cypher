// what: read the versions and the embedder that this database was written with
// returns: schema_version, embedder, dimension, analyzer, generation;
//   no row in a database that cognigraph has not used yet
MATCH (meta:CogniGraph {uid: 'cognigraph'})
RETURN meta.schema_version, meta.embedder, meta.dimension, meta.analyzer, coalesce(meta.generation, 1)
