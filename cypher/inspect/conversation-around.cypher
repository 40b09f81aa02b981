// what: the conversation up to three chunks before and after a message, in order
// parameters: message: string
// returns: at, session, speaker, message_id, part, text
MATCH (c:Chunk {message_id: $message})-[:NEXT*0..3]-(near:Chunk)
// as_of: WHERE c.at <= $as_of AND near.at <= $as_of
RETURN DISTINCT near.at AS at, near.session AS session, near.speaker AS speaker,
       near.message_id AS message_id, near.part AS part, near.text AS text
ORDER BY session, at, message_id, part
