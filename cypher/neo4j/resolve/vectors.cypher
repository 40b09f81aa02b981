// what: vectors of names by one embedder
// parameters: uids, property, by (properties of the vector and of who made it), embedder
// returns: uid, vector (bytes)
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})
WHERE entity[$by] = $embedder
RETURN entity.uid, entity[$property]
