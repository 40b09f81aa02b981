// what: chunks that are evidence for no fact, oldest first; searches by vector and text find them
// parameters: top: integer = 100
// returns: at, session, speaker, message_id, state, text
MATCH (c:Chunk)
WHERE NOT EXISTS { MATCH (t:Triple)-[:EVIDENCE]->(c) }
// as_of:   AND c.at <= $as_of
RETURN c.at AS at, c.session AS session, c.speaker AS speaker, c.message_id AS message_id,
       c.state AS state, c.text AS text
ORDER BY at, session, message_id, text
LIMIT $top
