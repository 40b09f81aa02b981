// what: the chunks of a session in order
// parameters: session: string
// returns: at, speaker, message_id, part, parts, state, text
MATCH (s:Session {id: $session})-[:HAS_CHUNK]->(c:Chunk)
// as_of: WHERE c.at <= $as_of
RETURN c.at AS at, c.speaker AS speaker, c.message_id AS message_id, c.part AS part,
       c.parts AS parts, c.state AS state, c.text AS text
ORDER BY at, message_id, part
