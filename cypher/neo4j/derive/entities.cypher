// what: merge entities; the first spelling is kept
// parameters: entities: [{uid, space, name, normalised, type, key, anchor, name_hash}] sorted by uid
// returns: nothing
UNWIND $entities AS row
MERGE (entity:Entity {uid: row.uid})
  ON CREATE SET entity += row, entity.loops = 0
