// what: delete chunks, and the earlier versions of their messages, and count them out of their space
// parameters: space, chunks (uids), count, length (of them all, in terms)
// returns: nothing
MATCH (space:Space {name: $space})
SET space.chunks = space.chunks - $count, space.length = space.length - $length
WITH space
UNWIND $chunks AS uid
MATCH (chunk:Chunk {uid: uid})
OPTIONAL MATCH (version:Version) USING INDEX version:Version(message, number)
WHERE version.message = uid AND version.number IS NOT NULL
WITH collect(DISTINCT chunk) AS chunks, collect(version) AS versions
FOREACH (version IN versions | DETACH DELETE version)
FOREACH (chunk IN chunks | DETACH DELETE chunk)
