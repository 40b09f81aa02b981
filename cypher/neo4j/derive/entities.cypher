// what: merge entities; the spelling said first is shown
// parameters: entities: [{uid, space, name, normalised, type, key, anchor, name_hash, spelled}]
//   sorted by uid
// returns: uids of those in groups whose name has changed
UNWIND $entities AS row
MERGE (entity:Named {uid: row.uid})
  ON CREATE SET entity += row, entity:Entity, entity.loops = 0
WITH entity, row
WHERE row.spelled < coalesce(entity.spelled, '')
SET entity.spelled = row.spelled, entity.name = row.name
WITH entity WHERE entity.shown_uid = entity.uid
RETURN entity.uid
