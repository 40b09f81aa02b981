// what: count triples and themes that were deleted out of the totals of a space
// parameters: space, triples, length (of the triples, in terms), themes
MATCH (facts:SpaceFacts {name: $space})
SET facts.triples = facts.triples - $triples, facts.length = facts.length - $length,
    facts.themes = facts.themes - $themes
