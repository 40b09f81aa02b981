// what: read the next nodes without a vector in a property
//   (Fact, Key and Theme replace Chunk in the other layers)
// parameters: property, columns (properties of the text), after (uid), limit
// returns: uid, values of the columns
MATCH (node:Chunk)
WHERE node.uid > $after AND node[$property] IS NULL
RETURN node.uid, [column IN $columns | node[column]]
ORDER BY node.uid LIMIT $limit
