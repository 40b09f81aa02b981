// what: the query conversation-around, of what had been said by a time
// parameters: those of conversation-around, as_of: time
MATCH (c:Chunk {message_id: $message})-[:NEXT*0..3]-(near:Chunk)
WHERE c.at <= $as_of AND near.at <= $as_of
RETURN DISTINCT near.at AS at, near.session AS session, near.speaker AS speaker,
       near.message_id AS message_id, near.part AS part, near.text AS text
ORDER BY session, at, message_id, part
