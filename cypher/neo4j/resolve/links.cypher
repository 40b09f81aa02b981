// what: list the merges in force that involve some entities
// returns: uid, uid it is merged into, by, reason, score
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})<-[:OF|INTO]-(merge:Merge)
WHERE merge.undone_at IS NULL
WITH DISTINCT merge
RETURN merge.a, merge.into, merge.by, merge.reason, merge.score
