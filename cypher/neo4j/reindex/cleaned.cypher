// what: record that no vectors of an earlier embedder are left
MATCH (meta:CogniGraph {uid: 'cognigraph'})
SET meta.stale = null
