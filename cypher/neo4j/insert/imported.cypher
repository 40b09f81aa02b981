// what: end an import into a space, or mark what it has left as what is to be removed
// parameters: space, importer (its token), to (null, or 'removed')
// returns: the space; no row if another import has begun, or the space was deleted
MATCH (space:Space {name: $space})
SET space.inserts = space.inserts + 1
WITH space
WHERE space.importer = $importer
SET space.importer = $to
RETURN space.name
