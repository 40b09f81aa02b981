// what: indexes of the chunks that wait for their vectors, of the audit log, of the queue by space
//   and of words; delete what earlier versions kept instead. Before this version the full-text index
//   had no tags and metadata, nothing was packed, and the table of slots was another one: see
//   stores/neo4j/schema.py. Each statement ends with a semicolon
// The property is the name of their space.
CREATE INDEX chunk_unembedded IF NOT EXISTS FOR (chunk:Chunk) ON (chunk.unembedded);
CREATE CONSTRAINT audit_uid IF NOT EXISTS FOR (n:Audit) REQUIRE n.uid IS UNIQUE;
CREATE INDEX audit_owner IF NOT EXISTS FOR (n:Audit) ON (n.owner, n.at);
CREATE INDEX audit_at IF NOT EXISTS FOR (n:Audit) ON (n.at);
// By space, so that spaces are served in turn.
CREATE INDEX chunk_queue_by_space IF NOT EXISTS FOR (n:Chunk) ON (n.state, n.space, n.seq);
DROP INDEX chunk_queue IF EXISTS;
DROP INDEX chunk_queue_of_space IF EXISTS;
// Word counts: processes count the words of the newest chunks themselves.
MATCH (kept:CogniGraph) WHERE kept.words IS NOT NULL
DELETE kept;
// These are brought up to date after a commit, and not in it: with Lucene that took most of the time
// of an insert. Searches wait for what was committed before them. Terms are hashed together with
// their space, so the analyser only has to split at white space.
CREATE FULLTEXT INDEX chunk_lexemes IF NOT EXISTS FOR (n:Chunk) ON EACH [n.lexemes]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}};
CREATE FULLTEXT INDEX triple_lexemes IF NOT EXISTS FOR (n:Triple) ON EACH [n.lexemes]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}};
