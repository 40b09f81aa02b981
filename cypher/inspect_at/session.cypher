// what: the query session, of what had been said by a time
// parameters: those of session, as_of: time
MATCH (s:Session {id: $session})-[:HAS_CHUNK]->(c:Chunk)
WHERE c.at <= $as_of
RETURN c.at AS at, c.speaker AS speaker, c.message_id AS message_id, c.part AS part,
       c.parts AS parts, c.state AS state, c.text AS text
ORDER BY at, message_id, part
