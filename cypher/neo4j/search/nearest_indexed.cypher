// what: find the nearest nodes of a large space in its own vector index, sorted by exact similarity
// parameters: index, fetch, vector, time (a property), until (or null)
// returns: similarities, uids, sessions (of chunks and themes), subjects and objects (of triples),
//   number fetched, the lowest similarity
CALL db.index.vector.queryNodes($index, $fetch, $vector) YIELD node
WITH node, vector.similarity.cosine(node.embedding, $vector) AS score ORDER BY score DESC
WITH node, score, score > 0.5 AND ($until IS NULL OR node[$time] <= $until) AS good
RETURN collect(CASE WHEN good THEN score END),
       collect(CASE WHEN good THEN node.uid END), collect(CASE WHEN good THEN node.session_uid END),
       collect(CASE WHEN good THEN node.subject_uid END),
       collect(CASE WHEN good THEN node.object_uid END), count(*), min(score)
