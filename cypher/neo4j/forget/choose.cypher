// what: list the chunks of messages that match some criteria, in order of their sessions (the
//   indexes and keys of messages or of one session replace those of the whole space)
// parameters: space, message, session (uid), speaker, before (each null for all)
// returns: session, session uid, chunk uid, part, message id
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, at, seq)
WHERE chunk.space = $space AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
  AND ($message IS NULL OR chunk.message_id = $message)
  AND ($session IS NULL OR chunk.session_uid = $session)
  AND ($speaker IS NULL OR chunk.speaker = $speaker)
  AND ($before IS NULL OR chunk.at < $before)
RETURN chunk.session, chunk.session_uid, chunk.uid, chunk.part, chunk.message_id
ORDER BY chunk.session_uid, chunk.at, chunk.seq
