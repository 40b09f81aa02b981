// what: remove all keys from a session
// parameters: session (uid)
// returns: uids of the removed keys
MATCH (session:Session {uid: $session})
OPTIONAL MATCH (session)-[has:HAS_KEY]->(key:Key)
WITH collect(has) AS all, collect(key.uid) AS uids
FOREACH (has IN all | DELETE has)
RETURN uids
