// what: read what ranking needs of chunks that wait for their vectors
// parameters: uids, unpacked (names of properties)
// returns: uid, values as stores/neo4j/index/packed.py takes them
UNWIND $uids AS uid
MATCH (chunk:Chunk {uid: uid})
WHERE chunk.unembedded IS NOT NULL
RETURN uid, [name IN $unpacked | chunk[name]]
