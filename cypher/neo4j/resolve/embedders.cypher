// what: whose vectors some names have
// parameters: uids, by (properties that say who made a vector)
// returns: property, embedder
UNWIND $uids AS uid
MATCH (entity:Named {uid: uid})
UNWIND $by AS property
WITH property, entity[property] AS embedder
WHERE embedder IS NOT NULL
RETURN DISTINCT property, embedder ORDER BY property, embedder
