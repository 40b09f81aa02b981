// what: find the triples that chunks are evidence for
// parameters: space, uids
// returns: uid of the chunk, uids of the triples
UNWIND $uids AS uid
MATCH (chunk:Chunk {uid: uid})<-[:EVIDENCE]-(triple:Triple)
WHERE chunk.space = $space
RETURN chunk.uid, collect(DISTINCT triple.uid)
