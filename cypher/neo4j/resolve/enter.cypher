// what: add entities to the blocks in which their names are compared
// parameters: rows: [{uid, blocks (uids)}] sorted by uid
// returns: block, its size, number of members added
UNWIND $rows AS row
MATCH (entity:Named {uid: row.uid})
UNWIND row.blocks AS key
MERGE (block:Block {uid: key})
WITH entity, block, EXISTS { (entity)-[:IN_BLOCK]->(block) } AS known
FOREACH (_ IN CASE WHEN known THEN [] ELSE [1] END | CREATE (entity)-[:IN_BLOCK]->(block))
WITH block, sum(CASE WHEN known THEN 0 ELSE 1 END) AS added
RETURN block.uid, COUNT { (block)<-[:IN_BLOCK]-() }, added
