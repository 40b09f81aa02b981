// what: list the names of all spaces that hold messages and that no import is filling
MATCH (space:Space)
WHERE space.chunks > 0 AND space.importer IS NULL
RETURN space.name
