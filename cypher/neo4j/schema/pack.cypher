// what: write what ranking needs of nodes, unless their text has changed since they were read
//   (Fact and Theme replace Chunk in the other layers)
// parameters: rows: [[uid, text's version, packed]]
UNWIND $rows AS row
MATCH (node:Chunk {uid: row[0]})
WHERE coalesce(node.digest, node.spelled, '') = row[1] AND node.packed IS NULL
SET node.packed = row[2]
