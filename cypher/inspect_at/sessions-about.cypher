// what: the query sessions-about, of what had been said by a time
// parameters: those of sessions-about, as_of: time
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)-[source:EVIDENCE]->(c:Chunk)<-[:HAS_CHUNK]-(s:Session)
WHERE toLower(e.name) = toLower($entity) AND source.observed_at <= $as_of
RETURN s.id AS session, s.started_at AS started_at, s.ended_at AS ended_at,
       count(DISTINCT t) AS facts
ORDER BY facts DESC, started_at DESC, session
