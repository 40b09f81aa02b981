// what: record the applied migrations, and the embedder and analyzer of a new database
MATCH (meta:CogniGraph {uid: 'cognigraph'})
SET meta.embedder = coalesce(meta.embedder, $embedder),
    meta.dimension = coalesce(meta.dimension, $dimension),
    meta.analyzer = coalesce(meta.analyzer, $analyzer),
    meta.schema_version = $version
