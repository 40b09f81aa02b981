// what: read the packed chunks, triples and themes of a space that arrived after an arrival number,
//   to compare them outside the server, which reads a vector of numbers bit by bit
// parameters: space, chunk, triple and theme (arrival numbers; null: none of these), most (nodes of
//   a layer), unpacked (names of properties; see stores/neo4j/index/packed.py)
// returns: chunks, triples, themes (packed), each in order of arrival
WITH $chunk AS chunk_after, $triple AS triple_after, $theme AS theme_after
CALL (chunk_after) {
  WITH chunk_after AS after WHERE after IS NOT NULL
  MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
  WHERE node.space = $space AND node.seq > after
  WITH node ORDER BY node.space, node.seq LIMIT toInteger($most)
  RETURN collect(coalesce(node.packed, [name IN $unpacked | node[name]])) AS chunks
}
CALL (triple_after) {
  WITH triple_after AS after WHERE after IS NOT NULL
  MATCH (node:Triple) USING INDEX node:Triple(space, seq)
  WHERE node.space = $space AND node.seq > after
  WITH node ORDER BY node.space, node.seq LIMIT toInteger($most)
  RETURN collect(coalesce(node.packed, [name IN $unpacked | node[name]])) AS triples
}
CALL (theme_after) {
  WITH theme_after AS after WHERE after IS NOT NULL
  MATCH (node:Theme) USING INDEX node:Theme(space, seq)
  WHERE node.space = $space AND node.seq > after
  WITH node ORDER BY node.space, node.seq LIMIT toInteger($most)
  RETURN collect(coalesce(node.packed, [name IN $unpacked | node[name]])) AS themes
}
RETURN chunks, triples, themes
