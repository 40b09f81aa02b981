// what: count the nodes of a layer and those that have a vector in a property
//   (Fact, Key and Theme replace Chunk in the other layers)
// returns: nodes, nodes with a vector
MATCH (node:Chunk)
WHERE node.uid > ''
RETURN count(node), count(node[$property])
