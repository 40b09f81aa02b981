// what: delete entities of a space (Alias replaces Entity for its aliases), and the blocks in which
//   nothing is left
MATCH (entity:Entity) USING INDEX entity:Entity(space)
WHERE entity.space = $space
WITH entity LIMIT $limit
OPTIONAL MATCH (entity)-[:IN_BLOCK]->(block:Block)
WITH collect(DISTINCT entity) AS entities, collect(DISTINCT block) AS blocks
FOREACH (entity IN entities | DETACH DELETE entity)
WITH size(entities) AS count, blocks
CALL (blocks) {
  UNWIND blocks AS block
  WITH block WHERE NOT EXISTS { (block)<-[:IN_BLOCK]-(:Named) }
  DELETE block
}
RETURN count
