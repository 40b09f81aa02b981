// name: shared-keys
// what: keys that join several sessions, most sessions first
// parameters: top: integer = 50
// returns: key, sessions, first, last
MATCH (s:Session)-[:HAS_KEY]->(k:Key)
WITH k.name AS key, count(s) AS sessions, min(s.id) AS first, max(s.id) AS last
WHERE sessions > 1
RETURN key, sessions, first, last
ORDER BY sessions DESC, key
LIMIT $top
