// what: whether an index can be searched
// parameters: name
// returns: state
SHOW INDEXES YIELD name, state WHERE name = $name
RETURN state
