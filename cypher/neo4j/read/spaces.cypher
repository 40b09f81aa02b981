// what: list the names of all spaces
// parameters: none
// returns: name
MATCH (space:Space)
RETURN space.name
