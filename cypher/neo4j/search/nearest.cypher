// what: find the nearest nodes of a small space, or of the newest part of a large one, exhaustively
//   (Triple and Theme replace Chunk in the other layers)
// parameters: space, after (arrival number), vector, limit, time (a property), until (or null)
// returns: similarities, uids, sessions (uids; of chunks and themes)
MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
WHERE node.space = $space AND node.seq > $after AND ($until IS NULL OR node[$time] <= $until)
WITH node, vector.similarity.cosine(node.embedding, $vector) AS score
WHERE score > 0.5
WITH node, score ORDER BY score DESC, node.seq LIMIT $limit
RETURN collect(score), collect(node.uid), collect(node.session_uid)
