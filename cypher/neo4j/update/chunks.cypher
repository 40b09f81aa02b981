// what: read the chunks of one message
// parameters: space, session (uid), id
// returns: uid, text, digest, length; in order
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, message_id)
WHERE chunk.space = $space AND chunk.message_id = $id AND chunk.session_uid = $session
RETURN chunk.uid, chunk.text, chunk.digest, chunk.length
ORDER BY chunk.part
