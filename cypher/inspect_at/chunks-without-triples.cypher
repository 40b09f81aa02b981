// what: the query chunks-without-triples, of what had been said by a time
// parameters: those of chunks-without-triples, as_of: time
MATCH (c:Chunk)
WHERE c.at <= $as_of AND NOT EXISTS { MATCH (t:Triple)-[:EVIDENCE]->(c) }
RETURN c.at AS at, c.session AS session, c.speaker AS speaker, c.message_id AS message_id,
       c.state AS state, c.text AS text
ORDER BY at, session, message_id, text
LIMIT $top
