// what: list what an application stated in a space; each chunk of a message has it
// returns: uid of the first chunk, facts (JSON)
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, at, seq)
WHERE chunk.space = $space AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
  AND chunk.facts IS NOT NULL AND chunk.part = 0
RETURN chunk.uid, chunk.facts
