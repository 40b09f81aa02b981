// what: the spaces of some entities that are still there
// parameters: uids
// returns: space, uids of its entities
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})
WITH entity.space AS space, entity.uid AS uid ORDER BY uid
RETURN space, collect(uid) ORDER BY space
