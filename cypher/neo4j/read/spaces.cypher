// what: list the names of all spaces that hold messages
// parameters: none
// returns: name
MATCH (space:Space)
WHERE space.chunks > 0
RETURN space.name
