// what: read up to where a space is to be removed
// parameters: space
// returns: its last arrival number; no row if there is no such space
MATCH (space:Space {name: $space})
RETURN space.seq
