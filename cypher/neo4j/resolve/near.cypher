// what: every pair of names that lie near each other by one embedder, around some entities
// parameters: uids, embedder
// returns: uids of both, score, reason
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})-[pair:NEAR]-(:Named)
WHERE pair.embedder = $embedder
WITH DISTINCT pair
RETURN startNode(pair).uid AS a, endNode(pair).uid AS b, pair.score, pair.reason
ORDER BY a, b
