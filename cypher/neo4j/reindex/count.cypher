// what: how many nodes of a layer there are, and how many have a vector in a property
//   (Fact, Key and Theme stand for Chunk in the other layers)
// parameters: property
// returns: nodes, nodes with a vector
MATCH (node:Chunk)
WHERE node.uid > ''
RETURN count(node), count(node[$property])
