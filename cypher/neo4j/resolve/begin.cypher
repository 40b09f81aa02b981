// what: lock a space before its groups change; transactions take turns
// returns: labels of the space's triples, a number that orders user constraints;
//   no row if the space has no facts
MATCH (facts:SpaceFacts {name: $space})
SET facts.rulings = coalesce(facts.rulings, 0) + 1
RETURN facts.triple_labels, facts.rulings
