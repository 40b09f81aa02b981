// what: take entities out of blocks that their names are no longer compared in
// parameters: rows: [{uid, blocks (uids)}] sorted by uid
// returns: block, its size, how many left it
UNWIND $rows AS row
MATCH (entity:Named {uid: row.uid})
UNWIND row.blocks AS key
MATCH (entity)-[inside:IN_BLOCK]->(block:Block {uid: key})
DELETE inside
WITH block, count(inside) AS gone
RETURN block.uid, COUNT { (block)<-[:IN_BLOCK]-() }, gone
