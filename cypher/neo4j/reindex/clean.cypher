// what: remove obsolete vectors from the next nodes
//   (Fact, Key and Theme replace Chunk in the other layers)
// parameters: property, packed (the property with the same vectors), after (uid), limit
// returns: the last uid, or null if there are no more nodes
MATCH (node:Chunk)
WHERE node.uid > $after AND node[$property] IS NOT NULL
WITH node ORDER BY node.uid LIMIT $limit
SET node[$property] = null, node[$packed] = null
RETURN max(node.uid)
