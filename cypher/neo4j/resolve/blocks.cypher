// what: list the members of blocks
// parameters: blocks (uids)
// returns: block, uids of its entities
UNWIND $blocks AS uid
MATCH (block:Block {uid: uid})<-[:IN_BLOCK]-(entity:Named)
RETURN block.uid, collect(entity.uid)
