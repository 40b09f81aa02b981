// what: pairs of some entities that letters or a user say something of
// parameters: uids
// returns: uids of both
UNWIND $uids AS uid
MATCH (a:Named {uid: uid})-[:RESEMBLES|RULED]->(b:Named)
RETURN DISTINCT a.uid, b.uid
