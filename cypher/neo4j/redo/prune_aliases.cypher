// what: delete those of some aliases that no text states any longer
// parameters: aliases (uids)
// returns: entity (uid), normalised alias
UNWIND $aliases AS uid
MATCH (alias:Alias {uid: uid})-[:ALIAS_OF]->(entity:Named)
WHERE NOT EXISTS { (alias)-[:STATED_IN]->(:Chunk) }
WITH alias, entity, alias.normalised AS name
SET entity.stated = [one IN entity.stated WHERE one <> name]
DETACH DELETE alias
RETURN entity.uid, name
