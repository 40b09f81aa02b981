// what: find the chunks that wait for their vectors; the property is the name of their space
CREATE INDEX chunk_unembedded IF NOT EXISTS FOR (chunk:Chunk) ON (chunk.unembedded)
