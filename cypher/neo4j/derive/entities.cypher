// what: merge entities; the spelling said first is shown
// parameters: entities: [{uid, space, name, normalised, type, key, anchor, name_hash, spelled}]
//   sorted by uid
// returns: uids of those whose name has changed, and whether a group is shown as it
UNWIND $entities AS row
MERGE (entity:Named {uid: row.uid})
  ON CREATE SET entity += row, entity:Entity, entity.loops = 0
WITH entity, row
WHERE row.spelled < coalesce(entity.spelled, '')
SET entity.spelled = row.spelled, entity.name = row.name
RETURN entity.uid, coalesce(entity.shown_uid = entity.uid, false)
