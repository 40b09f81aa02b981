// what: give names a vector in a property, beside the one in use
// parameters: property, rows: [{uid, vector (bytes)}] sorted by uid
// returns: nothing
UNWIND $rows AS row
MATCH (entity:Named {uid: row.uid})
SET entity[$property] = row.vector
