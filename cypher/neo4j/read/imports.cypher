// what: list the spaces that imports have not filled yet
MATCH (space:Space)
WHERE space.importer IS NOT NULL
RETURN space.name ORDER BY space.name
