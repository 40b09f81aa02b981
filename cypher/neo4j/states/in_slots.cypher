// what: find the triples that make claims about some slots
// parameters: slots: [[holder, slot]]
// returns: uid
UNWIND $slots AS row
WITH row[0] AS holder, row[1] AS slot
MATCH (triple:Triple {holder: holder, slot: slot})
RETURN triple.uid
