// what: delete pairs of names that lie near each other
// parameters: pairs: [[uid, uid]], embedder
// returns: nothing
UNWIND $pairs AS ends
MATCH (a:Named {uid: ends[0]})-[pair:NEAR]->(:Named)
WHERE endNode(pair).uid = ends[1] AND pair.embedder = $embedder
DELETE pair
