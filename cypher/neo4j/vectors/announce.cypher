// what: from now on the space's new nodes of a layer get its own label
//   (for triples and themes, SpaceFacts stands for Space)
// parameters: space, labels, property (that holds them)
// returns: nothing
MATCH (owner:Space {name: $space})
SET owner[$property] = $labels
