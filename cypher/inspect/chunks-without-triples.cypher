// name: chunks-without-triples
// what: chunks that no fact cites, oldest first; still reachable by vector and full text
// parameters: top: integer = 100
// returns: at, session, speaker, message_id, state, text
MATCH (c:Chunk)
WHERE NOT EXISTS { MATCH (t:Triple)-[:EVIDENCE]->(c) }
RETURN c.at AS at, c.session AS session, c.speaker AS speaker, c.message_id AS message_id,
       c.state AS state, c.text AS text
ORDER BY at, session, message_id, text
LIMIT $top
