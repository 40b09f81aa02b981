// what: count the members of blocks
// parameters: blocks (uids)
// returns: block, size
UNWIND $blocks AS uid
MATCH (block:Block {uid: uid})
RETURN block.uid, COUNT { (block)<-[:IN_BLOCK]-() }
