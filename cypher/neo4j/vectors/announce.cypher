// what: give all triples or themes of a space written from now on the label of its own vector index
// parameters: space, labels, property (that holds them)
MATCH (owner:SpaceFacts {name: $space})
SET owner[$property] = $labels
