// what: how many chunks, speakers and sessions support each fact about an entity
// parameters: entity: string
// returns: subject, relation, object, chunks, speakers, sessions
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)-[source:EVIDENCE]->(c:Chunk)
WHERE toLower(e.name) = toLower($entity)
// as_of:   AND source.observed_at <= $as_of
WITH t, count(DISTINCT c) AS chunks, count(DISTINCT c.speaker) AS speakers,
     count(DISTINCT c.session) AS sessions
RETURN t.subject AS subject, t.relation AS relation, t.object AS object, chunks, speakers, sessions
ORDER BY chunks DESC, sessions DESC, subject, relation, object
