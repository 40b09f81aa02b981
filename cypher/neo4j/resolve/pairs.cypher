// what: list all pairs of similar entities that contain some entities
// returns: uids of both, kind, score, likely, reason, reading_a, reading_b, verdict
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})-[pair:RESEMBLES]-(:Named)
WITH DISTINCT pair
RETURN startNode(pair).uid AS a, endNode(pair).uid AS b, pair.kind, pair.score, pair.likely,
       pair.reason, pair.reading_a, pair.reading_b, pair.verdict
ORDER BY a, b
