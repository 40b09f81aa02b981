// what: from now on a space's new triples or themes get the label of their own vector index
// parameters: space, labels, property (that holds them)
// returns: nothing
MATCH (owner:SpaceFacts {name: $space})
SET owner[$property] = $labels
