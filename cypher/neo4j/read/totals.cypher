// what: count the contents of all spaces, for a health check
// returns: spaces, chunks, triples
RETURN COUNT { (:Space) }, COUNT { (:Chunk) }, COUNT { (:Triple) }
