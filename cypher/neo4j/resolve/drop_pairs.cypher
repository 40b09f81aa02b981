// what: delete pairs of similar entities
// parameters: pairs: [[uid, uid]]
UNWIND $pairs AS ends
MATCH (a:Named {uid: ends[0]})-[pair:RESEMBLES]->(:Named)
WHERE endNode(pair).uid = ends[1]
DELETE pair
