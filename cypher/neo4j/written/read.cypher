// what: read all versions of what writers keep in a space
// returns: kind, chain, version, at in microseconds, text, title, steps, sources [[session, id]]
MATCH (node:Written) USING INDEX node:Written(space, chain, version)
WHERE node.space = $space AND node.chain IS NOT NULL AND node.version IS NOT NULL
CALL (node) {
  MATCH (node)-[:EVIDENCE]->(chunk:Chunk)
  WITH chunk ORDER BY chunk.at, chunk.seq
  RETURN collect([chunk.session, chunk.message_id]) AS sources
}
RETURN node.kind, node.chain, node.version, micros(node.at), coalesce(node.text, node.context),
       node.title, node.steps, sources
ORDER BY node.chain, node.version
