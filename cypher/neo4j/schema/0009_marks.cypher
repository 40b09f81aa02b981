// what: since this version the full-text index of chunks has the tags and metadata by which they
//   are searched, beside their words; see stores/neo4j/schema.py
