// what: the messages that the facts about an entity come from, oldest first
// parameters: entity: string
// returns: subject, relation, object, negated, observed_at, speaker, session, message_id, text
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)-[source:EVIDENCE]->(c:Chunk)
WHERE toLower(e.name) = toLower($entity)
// as_of:   AND source.observed_at <= $as_of
RETURN DISTINCT t.subject AS subject, t.relation AS relation, t.object AS object,
       t.negated AS negated, source.observed_at AS observed_at, c.speaker AS speaker,
       c.session AS session, c.message_id AS message_id, c.text AS text
ORDER BY observed_at, session, message_id, subject, relation, object
