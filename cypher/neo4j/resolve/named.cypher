// what: entities as they were read, whatever they are shown as
// parameters: uids
// returns: uid, normalised name, type, aliases (normalised), uid shown as (null: alone), name
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})
RETURN entity.uid, entity.normalised, entity.type, coalesce(entity.stated, []), entity.shown_uid,
       entity.name
