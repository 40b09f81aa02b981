// what: give nodes a vector in a property, beside the one in use
//   (Fact, Key and Theme stand for Chunk in the other layers)
// parameters: property, rows: [{uid, vector}] sorted by uid
// returns: nothing
UNWIND $rows AS row
MATCH (node:Chunk {uid: row.uid})
CALL db.create.setNodeVectorProperty(node, $property, row.vector)
