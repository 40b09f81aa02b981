// what: delete vectors of names by one embedder
// parameters: uids, property, by, embedder
// returns: nothing
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})
WHERE entity[$by] = $embedder
SET entity[$property] = null, entity[$by] = null
