// what: write vectors of nodes to a property, next to the vectors in use
//   (Fact, Key and Theme replace Chunk in the other layers)
// parameters: property, rows: [{uid, vector}] sorted by uid
UNWIND $rows AS row
MATCH (node:Chunk {uid: row.uid})
CALL db.create.setNodeVectorProperty(node, $property, row.vector)
