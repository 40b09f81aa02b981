// what: find the triples that make claims about some slots
// parameters: slots: [[holder, slot]]
UNWIND $slots AS row
WITH row[0] AS holder, row[1] AS slot
MATCH (indexed:Triple {holder: holder, slot: slot})
// Neo4j's index still returns a node that this transaction has changed and then deleted.
WITH elementId(indexed) AS id
MATCH (triple:Triple) WHERE elementId(triple) = id
RETURN triple.uid
