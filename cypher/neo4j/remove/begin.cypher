// what: read up to where a space is to be removed; an import that fills it adds nothing more
// returns: its last arrival number; no row if there is no such space
MATCH (space:Space {name: $space})
SET space.importer = CASE WHEN space.importer IS NULL THEN null ELSE 'removed' END
RETURN space.seq
