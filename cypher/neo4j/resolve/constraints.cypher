// what: list the user constraints on some entities
// returns: uids of both, verdict, uid of the canonical one, at (a number that orders constraints)
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})-[ruling:RULED]-(:Named)
WITH DISTINCT ruling
RETURN startNode(ruling).uid AS a, endNode(ruling).uid AS b, ruling.verdict, ruling.into, ruling.at
ORDER BY a, b
