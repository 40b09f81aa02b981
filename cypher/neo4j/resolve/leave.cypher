// what: take entities out of blocks that their names are no longer compared in, and delete those
//   that are empty then
// parameters: rows: [{uid, blocks (uids)}] sorted by uid
// returns: block, its size, how many left it
UNWIND $rows AS row
MATCH (entity:Named {uid: row.uid})
UNWIND row.blocks AS key
MATCH (entity)-[inside:IN_BLOCK]->(block:Block {uid: key})
DELETE inside
WITH block, count(inside) AS gone
WITH block, block.uid AS uid, gone, COUNT { (block)<-[:IN_BLOCK]-() } AS size
FOREACH (_ IN CASE WHEN size = 0 THEN [1] ELSE [] END | DELETE block)
RETURN uid, size, gone
