// what: read entities as extracted, canonical or not
// returns: uid, normalised name, type, aliases (normalised), canonical uid (null if in no group),
//   name
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})
RETURN entity.uid, entity.normalised, entity.type, coalesce(entity.stated, []), entity.shown_uid,
       entity.name
