// what: begin to change what is shown: one at a time in a space
// parameters: space
// returns: labels of the space's triples, a number that orders rulings;
//   no row if the space has no facts
MATCH (facts:SpaceFacts {name: $space})
SET facts.rulings = coalesce(facts.rulings, 0) + 1
RETURN facts.triple_labels, facts.rulings
