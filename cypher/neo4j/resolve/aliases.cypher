// what: write aliases stated by the text; the earliest spelling becomes the canonical one
// parameters: aliases: [{entity, properties}] sorted by uid
// returns: uids of the entities that have a new alias
UNWIND $aliases AS row
MATCH (entity:Named {uid: row.entity})
MERGE (alias:Alias {uid: row.properties.uid})
  ON CREATE SET alias += row.properties, alias.type = entity.type
FOREACH (_ IN CASE WHEN row.properties.spelled < alias.spelled THEN [1] ELSE [] END |
  SET alias.name = row.properties.name, alias.spelled = row.properties.spelled)
MERGE (alias)-[:ALIAS_OF]->(entity)
WITH entity, alias, row
WHERE NOT row.properties.normalised IN coalesce(entity.stated, [])
SET entity.stated = coalesce(entity.stated, []) + row.properties.normalised
WITH entity, alias, coalesce(entity.shown_uid, entity.uid) AS uid
MATCH (shown:Entity {uid: uid})
CREATE (alias)-[:SAME_AS]->(shown)
RETURN DISTINCT entity.uid
