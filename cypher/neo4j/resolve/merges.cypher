// what: list past and current merges, newest first
// returns: name, type, name it is merged into, its type, by, reason, score, at and undone_at in
//   microseconds
MATCH (merge:Merge) USING INDEX merge:Merge(owner, seq)
WHERE merge.owner = $space AND merge.seq >= 0
WITH merge ORDER BY merge.at DESC, merge.seq DESC SKIP $skip LIMIT $limit
MATCH (a:Named)<-[:OF]-(merge)-[:INTO]->(b:Named)
RETURN a.name, a.type, b.name, b.type, merge.by, merge.reason, merge.score, micros(merge.at),
       micros(merge.undone_at)
ORDER BY merge.at DESC, merge.seq DESC
