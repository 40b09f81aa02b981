// what: the parts of conversations by topic, with how many messages each covers
// parameters: top: integer = 50
// returns: session, title, started_at, ended_at, reason, covers
MATCH (s:Session)-[:HAS_THEME]->(t:Theme)-[:COVERS]->(c:Chunk)
// as_of: WHERE t.ended_at <= $as_of
RETURN s.id AS session, t.title AS title, t.started_at AS started_at, t.ended_at AS ended_at,
       t.reason AS reason, count(c) AS covers
ORDER BY started_at, title LIMIT $top
