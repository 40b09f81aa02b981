// what: find the triples that replace others of some families of slots
// parameters: families: [[holder, prefix]]
// returns: uid
UNWIND $families AS family
WITH family[0] AS holder, family[1] AS prefix
MATCH (triple:Triple {holder: holder})
WHERE triple.slot STARTS WITH prefix AND triple.replaces
RETURN triple.uid
