// what: count the members of blocks
// parameters: blocks (uids)
UNWIND $blocks AS uid
MATCH (block:Block {uid: uid})
RETURN block.uid, COUNT { (block)<-[:IN_BLOCK]-() }
