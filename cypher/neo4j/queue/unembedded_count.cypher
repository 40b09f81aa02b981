// what: count the chunks that wait for their vectors
// parameters: space (null for all spaces)
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(unembedded)
WHERE chunk.unembedded >= coalesce($space, '') AND ($space IS NULL OR chunk.unembedded = $space)
RETURN count(chunk)
