// what: find messages that exist already, or were forgotten, by the uid of their first chunk
// returns: uid, digest (null for one that was forgotten), digests of its earlier texts
UNWIND $uids AS uid
MATCH (chunk:Chunk {uid: uid})
OPTIONAL MATCH (version:Version) USING INDEX version:Version(message, number)
WHERE version.message = uid AND version.number IS NOT NULL
WITH chunk, collect(version.digest) AS earlier
RETURN chunk.uid, chunk.digest, earlier
UNION
UNWIND $uids AS uid
MATCH (gone:Forgotten {uid: uid})
RETURN gone.uid AS `chunk.uid`, null AS `chunk.digest`, [] AS earlier
