// what: list the chunks of messages that match some criteria, in order of their sessions (the
//   indexes and keys of messages or of one session replace those of the whole space)
// parameters: space, message, session (uid), speaker, before, role, mark (of a tag),
//   expired (each null for all)
// returns: session, session uid, chunk uid, part, message id
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, at, seq)
WHERE chunk.space = $space AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
  AND ($message IS NULL OR chunk.message_id = $message)
  AND ($session IS NULL OR chunk.session_uid = $session)
  AND ($speaker IS NULL OR chunk.speaker = $speaker)
  AND ($before IS NULL OR chunk.at < $before)
  AND ($role IS NULL OR coalesce(chunk.role, 'person') = $role)
  AND ($mark IS NULL OR $mark IN coalesce(chunk.marks, []))
  AND ($expired IS NULL OR EXISTS {
    MATCH (first:Chunk) USING INDEX first:Chunk(space, message_id)
    WHERE first.space = chunk.space AND first.message_id = chunk.message_id
      AND first.session_uid = chunk.session_uid AND first.expires <= $expired
  })
RETURN chunk.session, chunk.session_uid, chunk.uid, chunk.part, chunk.message_id
ORDER BY chunk.session_uid, chunk.at, chunk.seq
