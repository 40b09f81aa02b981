// what: give the next nodes of a space, in arrival order, the label of their own vector index
//   (Triple and Theme stand for Chunk in the other layers)
// parameters: space, after (arrival number), labels, limit
// returns: the last arrival number, null when there are no more
MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
WHERE node.space = $space AND node.seq > $after
WITH node ORDER BY node.space, node.seq LIMIT $limit
SET node:$($labels)
RETURN max(node.seq)
