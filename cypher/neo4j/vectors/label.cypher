// what: add the label of their own vector index to the next nodes of a space, in order of arrival
//   (Triple and Theme replace Chunk in the other layers)
// parameters: space, after (arrival number), labels, limit
// returns: the last arrival number, or null if there are no more nodes
MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
WHERE node.space = $space AND node.seq > $after
WITH node ORDER BY node.space, node.seq LIMIT $limit
SET node:$($labels)
RETURN max(node.seq)
