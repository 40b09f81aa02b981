// what: sessions with facts about an entity, most facts first
// parameters: entity: string
// returns: session, started_at, ended_at, facts
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)-[:IN_SESSION]->(s:Session)
WHERE toLower(e.name) = toLower($entity)
RETURN s.id AS session, s.started_at AS started_at, s.ended_at AS ended_at,
       count(DISTINCT t) AS facts
ORDER BY facts DESC, started_at DESC, session
