// what: record that all nodes of a layer have their label and that the index is there
//   (for triples and themes, SpaceFacts stands for Space)
// parameters: space, property
// returns: nothing
MATCH (owner:Space {name: $space})
SET owner[$property] = true
