// what: delete entities that nothing is said of any more
// parameters: entities (uids)
// returns: nothing
UNWIND $entities AS uid
MATCH (entity:Entity {uid: uid})
WHERE NOT EXISTS { (entity)<-[:SUBJECT|OBJECT|MENTIONS]-() }
DETACH DELETE entity
