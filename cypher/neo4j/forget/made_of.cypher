// what: find the other sessions whose themes were made out of those of a session
// parameters: session (uid)
MATCH (session:Session {uid: $session})-[:HAS_THEME]->(:Theme)<-[:DERIVED_FROM*1..]-(theme:Theme)
WHERE theme.session_uid <> $session
RETURN DISTINCT theme.session_uid AS uid ORDER BY uid
