// what: delete the themes of a session
// parameters: session (uid)
// returns: number of themes deleted
MATCH (session:Session {uid: $session})
OPTIONAL MATCH (session)-[:HAS_THEME]->(theme:Theme)
WITH collect(theme) AS themes
FOREACH (theme IN themes | DETACH DELETE theme)
RETURN size(themes)
