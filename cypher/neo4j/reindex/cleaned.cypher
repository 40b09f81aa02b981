// what: record that nothing of an older embedder is left
// parameters: none
// returns: nothing
MATCH (meta:CogniGraph {uid: 'cognigraph'})
SET meta.stale = null
