// what: take a session's keys away
// parameters: session (uid)
// returns: uids of the keys it had
MATCH (session:Session {uid: $session})
OPTIONAL MATCH (session)-[has:HAS_KEY]->(key:Key)
WITH collect(has) AS all, collect(key.uid) AS uids
FOREACH (has IN all | DELETE has)
RETURN uids
