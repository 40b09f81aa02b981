// what: link entities and their aliases to the canonical entities
// parameters: rows: [{uid, old, shown}], where shown is the canonical uid, null if in no group
UNWIND $rows AS row
MATCH (entity:Named {uid: row.uid})
WITH entity, coalesce(row.shown, row.uid) AS uid
MATCH (shown:Named {uid: uid})
FOREACH (_ IN CASE WHEN shown = entity THEN [] ELSE [1] END | CREATE (entity)-[:SAME_AS]->(shown))
WITH entity, shown
MATCH (entity)<-[:ALIAS_OF]-(alias:Alias)
OPTIONAL MATCH (alias)-[same:SAME_AS]->()
DELETE same
CREATE (alias)-[:SAME_AS]->(shown)
