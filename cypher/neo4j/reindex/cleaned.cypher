// what: record that no vectors of an earlier embedder are left
// parameters: none
// returns: nothing
MATCH (meta:CogniGraph {uid: 'cognigraph'})
SET meta.stale = null
