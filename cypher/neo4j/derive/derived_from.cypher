// what: link new themes to those that they were made out of
// parameters: pairs: [[theme uid, [uids of themes]]]
UNWIND $pairs AS pair
MATCH (theme:Theme {uid: pair[0]})
UNWIND pair[1] AS uid
MATCH (source:Theme {uid: uid})
WHERE source.space = theme.space
MERGE (theme)-[:DERIVED_FROM]->(source)
