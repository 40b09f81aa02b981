// what: record the embedder that is being prepared
// parameters: next (embedder and dimension)
MATCH (meta:CogniGraph {uid: 'cognigraph'})
SET meta.next = $next
