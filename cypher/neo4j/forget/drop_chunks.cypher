// what: delete chunks, and count them out of their space
// parameters: space, chunks (uids), count, length (of them all, in terms)
MATCH (space:Space {name: $space})
SET space.chunks = space.chunks - $count, space.length = space.length - $length
WITH space
UNWIND $chunks AS uid
MATCH (chunk:Chunk {uid: uid})
WITH collect(chunk) AS chunks
FOREACH (chunk IN chunks | DETACH DELETE chunk)
