// what: read chunks of one space that wait for their vectors
// parameters: space (null for the first space after another that has some), after (name of the
//   other; '' with a space), limit
// returns: space, and of each chunk: [uid, digest, [speaker, text, fresh]]
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(unembedded)
WHERE chunk.unembedded >= coalesce($space, $after)
  AND CASE WHEN $space IS NULL THEN chunk.unembedded > $after ELSE chunk.unembedded = $space END
WITH chunk ORDER BY chunk.unembedded, chunk.seq LIMIT $limit
WITH chunk.unembedded AS space,
     collect([chunk.uid, chunk.digest, [chunk.speaker, chunk.text, chunk.fresh]]) AS chunks
RETURN space, chunks
ORDER BY space LIMIT 1
