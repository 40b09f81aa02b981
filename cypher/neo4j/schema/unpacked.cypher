// what: read the values of the next nodes that have not been packed
//   (Fact and Theme replace Chunk in the other layers)
// parameters: after (uid), limit, unpacked (names of properties)
// returns: uid of the last node looked at (null if there are no more), and of those not packed among
//   them: [text's version, values as stores/neo4j/index/packed.py takes them]
MATCH (node:Chunk) USING INDEX node:Chunk(uid)
WHERE node.uid > $after
WITH node ORDER BY node.uid LIMIT $limit
RETURN max(node.uid),
       collect(CASE WHEN node.packed IS NOT NULL THEN null
               ELSE [coalesce(node.digest, node.spelled, ''),
                     [name IN $unpacked | node[name]]] END)
