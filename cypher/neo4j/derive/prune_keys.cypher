// what: delete those of some keys that no session has any longer
// parameters: keys (uids)
UNWIND $keys AS uid
MATCH (key:Key {uid: uid})
WHERE NOT EXISTS { (key)<-[:HAS_KEY]-() }
DELETE key
