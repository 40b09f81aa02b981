// what: remove vectors that are no longer in use from the next nodes
//   (Fact, Key and Theme stand for Chunk in the other layers)
// parameters: property, after (uid), limit
// returns: the last uid, null when there are no more
MATCH (node:Chunk)
WHERE node.uid > $after AND node[$property] IS NOT NULL
WITH node ORDER BY node.uid LIMIT $limit
SET node[$property] = null
RETURN max(node.uid)
