// what: keys that several sessions share, most sessions first
// parameters: top: integer = 50
// returns: key, sessions, count
MATCH (s:Session)-[:HAS_KEY]->(k:Key)
WITH k.name AS key, s.id AS session
ORDER BY session
WITH key, collect(session) AS sessions, count(session) AS count
WHERE count > 1
RETURN key, sessions, count
ORDER BY count DESC, key
LIMIT $top
