// what: note which embedder is in use, which is being prepared, and whose vectors are left behind
// parameters: properties (null for one that goes)
MATCH (meta:CogniGraph {uid: 'cognigraph'})
SET meta += $properties
