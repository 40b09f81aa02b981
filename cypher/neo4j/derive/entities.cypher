// what: create entities that do not exist yet; the earliest spelling becomes the canonical one
// parameters: entities: [{entity: {uid, space, name, normalised, type, key, anchor, name_hash,
//   spelled}, vector (bytes)}] sorted by uid
// returns: uids of entities whose name changed, and whether each is canonical in a group
UNWIND $entities AS row
MERGE (entity:Named {uid: row.entity.uid})
  ON CREATE SET entity += row.entity, entity:Entity, entity.loops = 0
FOREACH (_ IN CASE WHEN entity.embedding IS NULL THEN [1] ELSE [] END |
  SET entity.embedding = row.vector)
WITH entity, row.entity AS row
WHERE row.spelled < coalesce(entity.spelled, '')
SET entity.spelled = row.spelled, entity.name = row.name
RETURN entity.uid, coalesce(entity.shown_uid = entity.uid, false)
