// what: the query episodes, of what had been said by a time
// parameters: those of episodes, as_of: time
MATCH (s:Session)-[:HAS_THEME]->(t:Theme)-[:COVERS]->(c:Chunk)
WHERE t.ended_at <= $as_of
RETURN s.id AS session, t.title AS title, t.started_at AS started_at, t.ended_at AS ended_at,
       t.reason AS reason, count(c) AS covers
ORDER BY started_at, title LIMIT $top
