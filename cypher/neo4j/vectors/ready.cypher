// what: record that all triples or themes of a space have their label and that the index is there
// parameters: space, property
// returns: nothing
MATCH (owner:SpaceFacts {name: $space})
SET owner[$property] = true
