// what: read what the full-text index has of the next chunks with tags or metadata
// parameters: after (uid), limit
// returns: uid of the last chunk looked at (null if there are no more), and of those with marks
//   among them: [uid, space, marks, lexemes]
MATCH (chunk:Chunk) USING INDEX chunk:Chunk(uid)
WHERE chunk.uid > $after
WITH chunk ORDER BY chunk.uid LIMIT $limit
RETURN max(chunk.uid),
       collect(CASE WHEN chunk.marks IS NULL THEN null
               ELSE [chunk.uid, chunk.space, chunk.marks, coalesce(chunk.lexemes, '')] END)
