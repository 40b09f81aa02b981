// what: the query sources, of what had been said by a time
// parameters: those of sources, as_of: time
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)-[source:EVIDENCE]->(c:Chunk)
WHERE toLower(e.name) = toLower($entity) AND source.observed_at <= $as_of
RETURN DISTINCT t.subject AS subject, t.relation AS relation, t.object AS object,
       t.negated AS negated, source.observed_at AS observed_at, c.speaker AS speaker,
       c.session AS session, c.message_id AS message_id, c.text AS text
ORDER BY observed_at, session, message_id, subject, relation, object
