// what: find the triples that users spoke of, or of their duplicates, among some without a slot
UNWIND $uids AS uid
MATCH (triple:Triple {uid: uid})
WHERE triple.slot IS NULL
// part: rulings
RETURN DISTINCT triple.uid
