// what: find the slots of entities that belong to some families, which share a prefix
// parameters: families: [[holder, prefix]]
// returns: holder, slots
UNWIND $families AS family
WITH family[0] AS holder, family[1] AS prefix
MATCH (triple:Triple {holder: holder})
WHERE triple.slot STARTS WITH prefix
RETURN holder, collect(DISTINCT triple.slot)
