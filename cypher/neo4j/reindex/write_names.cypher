// what: write vectors of names to a property, next to the vectors in use
// parameters: property, rows: [{uid, vector (bytes)}] sorted by uid
UNWIND $rows AS row
MATCH (entity:Named {uid: row.uid})
SET entity[$property] = row.vector
