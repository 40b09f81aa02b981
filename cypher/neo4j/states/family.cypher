// what: find the slots of entities that belong to some families, which share a prefix
// parameters: families: [[holder, prefix]]
UNWIND $families AS family
WITH family[0] AS holder, family[1] AS prefix
MATCH (indexed:Triple {holder: holder}) WHERE indexed.slot STARTS WITH prefix
// Neo4j's index still returns a node that this transaction has changed and then deleted.
WITH holder, elementId(indexed) AS id
MATCH (triple:Triple) WHERE elementId(triple) = id
RETURN holder, collect(DISTINCT triple.slot)
