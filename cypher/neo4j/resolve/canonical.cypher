// what: set the canonical entities of entities; canonical ones come first
// parameters: rows: [{uid, old, shown}], where old is the previous and shown the new canonical uid,
//   null if the entity is in no group
UNWIND $rows AS row
MATCH (entity:Named {uid: row.uid})
OPTIONAL MATCH (entity)-[same:SAME_AS]->()
DELETE same
SET entity.shown_uid = row.shown
FOREACH (_ IN CASE WHEN row.shown IS NULL OR row.shown = row.uid THEN [1] ELSE [] END |
  SET entity:Entity REMOVE entity:Alias)
FOREACH (_ IN CASE WHEN row.shown <> row.uid THEN [1] ELSE [] END |
  SET entity:Alias REMOVE entity:Entity)
