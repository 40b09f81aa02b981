// what: the nearest nodes of a big space by its own vector index
// parameters: index, fetch, vector, time (a property), until (or null)
// returns: uids, sessions (uids; of chunks and themes), number fetched, the lowest score
CALL db.index.vector.queryNodes($index, $fetch, $vector) YIELD node, score
WITH node, score, score > 0.5 AND ($until IS NULL OR node[$time] <= $until) AS good
RETURN collect(CASE WHEN good THEN node.uid END), collect(CASE WHEN good THEN node.session_uid END),
       count(*), min(score)
