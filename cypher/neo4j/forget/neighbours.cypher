// what: read which chunks come before and after some chunks in their session
// parameters: chunks (uids)
// returns: uid, uid of the previous chunk, uid of the next chunk (null at either end)
UNWIND $chunks AS uid
MATCH (chunk:Chunk {uid: uid})
OPTIONAL MATCH (before:Chunk)-[:NEXT]->(chunk)
OPTIONAL MATCH (chunk)-[:NEXT]->(after:Chunk)
RETURN chunk.uid, before.uid, after.uid
