// what: triples that say the same
// parameters: folds
// returns: fold, uids in order
UNWIND $folds AS fold
MATCH (triple:Fact {fold: fold})
WITH fold, triple.uid AS uid ORDER BY uid
RETURN fold, collect(uid)
