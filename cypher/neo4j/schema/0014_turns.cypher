// what: index the queue by space, so that spaces are served in turn; each statement ends with a
//   semicolon
CREATE INDEX chunk_queue_by_space IF NOT EXISTS FOR (n:Chunk) ON (n.state, n.space, n.seq);
DROP INDEX chunk_queue IF EXISTS;
DROP INDEX chunk_queue_of_space IF EXISTS;
