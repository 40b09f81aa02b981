// what: read the slots of triples
// returns: holder, slot, whether the triple replaces others
UNWIND $uids AS uid
MATCH (triple:Fact {uid: uid})
WHERE triple.slot IS NOT NULL
RETURN triple.holder, triple.slot, coalesce(triple.replaces, false)
