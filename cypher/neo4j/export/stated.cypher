// what: list the facts of a space that an application stated
// parameters: space
// returns: uid of the first chunk, facts (JSON)
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, at, seq)
WHERE chunk.space = $space AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL
  AND chunk.facts IS NOT NULL
RETURN chunk.uid, chunk.facts
