// what: read the newest chunks of a space
// parameters: space, limit, unpacked (names of properties; see stores/neo4j/index/packed.py)
// returns: nodes, newest first (see stores/neo4j/index/packed.py)
MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
WHERE node.space = $space AND node.seq > 0
WITH node ORDER BY node.space DESC, node.seq DESC LIMIT $limit
RETURN collect(coalesce(node.packed, [name IN $unpacked | node[name]]))
