// what: delete keys that no session has any more
// parameters: keys (uids)
// returns: nothing
UNWIND $keys AS uid
MATCH (key:Key {uid: uid})
WHERE NOT EXISTS { (key)<-[:HAS_KEY]-() }
DELETE key
