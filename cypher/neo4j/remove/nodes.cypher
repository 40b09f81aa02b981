// what: delete chunks of a space (other labels and indexes replace those of chunks)
// parameters: space, until (arrival number; later ones stay), limit
MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
WHERE node.space = $space AND node.seq <= $until
WITH node LIMIT $limit
WITH collect(node) AS nodes
FOREACH (node IN nodes | DETACH DELETE node)
RETURN size(nodes)
