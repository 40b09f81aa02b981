// what: count the contents of all spaces, for a health check
RETURN COUNT { (:Space) }, COUNT { (:Chunk) }, COUNT { (:Triple) }
