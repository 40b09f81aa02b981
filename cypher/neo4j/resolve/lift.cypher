// what: delete user constraints on pairs of entities
// parameters: constraints: [[uid, uid]]
UNWIND $constraints AS ends
MATCH (a:Named {uid: ends[0]})-[ruling:RULED]->(:Named)
WHERE endNode(ruling).uid = ends[1]
DELETE ruling
