// what: delete the versions that were written from some chunks, and all later versions of them
// parameters: space, chunks (uids)
UNWIND $chunks AS uid
MATCH (chunk:Chunk {uid: uid})<-[:EVIDENCE]-(first:Written)
WITH DISTINCT first.chain AS chain, first.version AS version
MATCH (node:Written) USING INDEX node:Written(space, chain, version)
WHERE node.space = $space AND node.chain = chain AND node.version >= version
WITH collect(DISTINCT node) AS nodes
FOREACH (node IN nodes | DETACH DELETE node)
