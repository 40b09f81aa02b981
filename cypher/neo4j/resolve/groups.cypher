// what: find the groups of some entities
// returns: canonical uid, uids of all members
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})
WHERE entity.shown_uid IS NOT NULL
WITH DISTINCT entity.shown_uid AS uid
MATCH (shown:Entity {uid: uid})
OPTIONAL MATCH (shown)<-[:SAME_AS]-(member:Named)
WITH shown, collect(member.uid) AS members
RETURN shown.uid, [shown.uid] + members
