// what: merge entities; the spelling said first is shown
// parameters: entities: [{entity: {uid, space, name, normalised, type, key, anchor, name_hash,
//   spelled}, vector (bytes)}] sorted by uid
// returns: uids of those whose name has changed, and whether a group is shown as it
UNWIND $entities AS row
MERGE (entity:Named {uid: row.entity.uid})
  ON CREATE SET entity += row.entity, entity:Entity, entity.loops = 0
FOREACH (_ IN CASE WHEN entity.embedding IS NULL THEN [1] ELSE [] END |
  SET entity.embedding = row.vector)
WITH entity, row.entity AS row
WHERE row.spelled < coalesce(entity.spelled, '')
SET entity.spelled = row.spelled, entity.name = row.name
RETURN entity.uid, coalesce(entity.shown_uid = entity.uid, false)
