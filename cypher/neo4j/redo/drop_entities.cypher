// what: delete entities that are in no group, and the history of their merges
// parameters: entities (uids)
UNWIND $entities AS uid
MATCH (entity:Named {uid: uid})
OPTIONAL MATCH (entity)<-[:OF|INTO]-(merge:Merge)
WITH collect(DISTINCT entity) AS entities, collect(DISTINCT merge) AS merges
FOREACH (merge IN merges | DETACH DELETE merge)
FOREACH (entity IN entities | DETACH DELETE entity)
