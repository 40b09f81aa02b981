// what: the summary of a session, theme by theme
// parameters: session: string
// returns: title, summary
MATCH (s:Session {id: $session})-[:HAS_THEME]->(theme:Theme)
RETURN theme.title AS title, theme.summary AS summary
ORDER BY title, summary
