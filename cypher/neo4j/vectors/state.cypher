// what: read the state of an index, which tells whether it can be searched
// parameters: name
// returns: state
SHOW INDEXES YIELD name, state WHERE name = $name
RETURN state
