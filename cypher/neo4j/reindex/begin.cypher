// what: record the embedder that is being prepared
// parameters: next (embedder and dimension)
// returns: nothing
MATCH (meta:CogniGraph {uid: 'cognigraph'})
SET meta.next = $next
