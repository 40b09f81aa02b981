// what: read chunks for display
// returns: uid, message_id, session, session_uid, speaker, at in microseconds, text, part, parts,
//   role, heading, metadata (JSON), tags
UNWIND $uids AS uid
MATCH (chunk:Chunk {uid: uid})
WHERE chunk.space = $space
RETURN chunk.uid, chunk.message_id, chunk.session, chunk.session_uid, chunk.speaker,
       micros(chunk.at), chunk.text, chunk.part, chunk.parts, chunk.role, chunk.heading,
       chunk.metadata, chunk.tags
