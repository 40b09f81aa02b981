// what: delete sessions of a space, with their themes and revisions; leases on them end
// parameters: space, until (arrival number; later ones stay), limit
MATCH (session:Session) USING INDEX session:Session(space, ended_at)
WHERE session.space = $space AND session.ended_at IS NOT NULL AND session.seq <= $until
WITH session LIMIT $limit
OPTIONAL MATCH (session)-[:HAS_THEME|HAS_REVISION]->(part:Theme|Revision)
WITH collect(DISTINCT session) AS sessions, collect(part) AS parts
FOREACH (part IN parts | DETACH DELETE part)
FOREACH (session IN sessions | DETACH DELETE session)
RETURN size(sessions)
