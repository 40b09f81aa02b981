// what: find pairs of some entities with similar names or a user constraint
UNWIND $uids AS uid
MATCH (a:Named {uid: uid})-[:RESEMBLES|RULED]->(b:Named)
RETURN DISTINCT a.uid, b.uid
