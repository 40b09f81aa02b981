// what: delete a session's themes
// parameters: session (uid)
// returns: how many
MATCH (session:Session {uid: $session})
OPTIONAL MATCH (session)-[:HAS_THEME]->(theme:Theme)
WITH collect(theme) AS themes
FOREACH (theme IN themes | DETACH DELETE theme)
RETURN size(themes)
