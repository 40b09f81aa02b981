// what: find triples that are duplicates of each other
// parameters: keys (of duplicates)
// returns: fold, uids in order
UNWIND $keys AS fold
MATCH (triple:Fact {fold: fold})
WITH fold, triple.uid AS uid ORDER BY uid
RETURN fold, collect(uid)
