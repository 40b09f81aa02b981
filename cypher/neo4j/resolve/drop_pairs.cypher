// what: delete pairs of similar entities (RULED replaces RESEMBLES for constraints)
// parameters: pairs: [[uid, uid]]
UNWIND $pairs AS ends
MATCH (a:Named {uid: ends[0]})-[pair:RESEMBLES]->(:Named)
WHERE endNode(pair).uid = ends[1]
DELETE pair
