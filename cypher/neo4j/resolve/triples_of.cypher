// what: find the triples that were extracted with some entities as subject or object
// parameters: rows: [{uid, old, shown}], where old is the current canonical uid
UNWIND $rows AS row
MATCH (old:Named {uid: row.old})<-[:SUBJECT|OBJECT]-(shown:Triple)
OPTIONAL MATCH (shown)<-[:SAME_AS]-(folded:TripleVariant)
WITH row, shown, collect(folded) AS folded
UNWIND [shown] + folded AS triple
WITH row, triple WHERE triple.raw_subject = row.uid OR triple.raw_object = row.uid
RETURN DISTINCT triple.uid
