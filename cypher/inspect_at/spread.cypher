// what: the query spread, of what had been said by a time
// parameters: those of spread, as_of: time
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)-[source:EVIDENCE]->(c:Chunk)
WHERE toLower(e.name) = toLower($entity) AND source.observed_at <= $as_of
WITH t, count(DISTINCT c) AS chunks, count(DISTINCT c.speaker) AS speakers,
     count(DISTINCT c.session) AS sessions
RETURN t.subject AS subject, t.relation AS relation, t.object AS object, chunks, speakers, sessions
ORDER BY chunks DESC, sessions DESC, subject, relation, object
