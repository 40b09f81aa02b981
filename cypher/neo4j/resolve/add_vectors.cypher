// what: keep vectors of names that have none by this embedder
// parameters: rows: [{uid, vector}] sorted by uid, property, by, embedder
// returns: uids of these
UNWIND $rows AS row
MATCH (entity:Named {uid: row.uid})
WHERE entity[$by] IS NULL OR entity[$by] <> $embedder
SET entity[$property] = row.vector, entity[$by] = $embedder
RETURN entity.uid
