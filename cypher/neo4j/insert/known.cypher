// what: find messages that exist already, by the uid of their first chunk
// parameters: uids
// returns: uid, digest
UNWIND $uids AS uid
MATCH (chunk:Chunk {uid: uid})
RETURN chunk.uid, chunk.digest
