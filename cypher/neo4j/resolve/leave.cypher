// what: remove entities from blocks in which their names are no longer compared, and delete blocks
//   that are then empty
// parameters: rows: [{uid, blocks (uids)}] sorted by uid
// returns: block, its size, number of members removed
UNWIND $rows AS row
MATCH (entity:Named {uid: row.uid})
UNWIND row.blocks AS key
MATCH (entity)-[inside:IN_BLOCK]->(block:Block {uid: key})
DELETE inside
WITH block, count(inside) AS gone
WITH block, block.uid AS uid, gone, COUNT { (block)<-[:IN_BLOCK]-() } AS size
FOREACH (_ IN CASE WHEN size = 0 THEN [1] ELSE [] END | DELETE block)
RETURN uid, size, gone
