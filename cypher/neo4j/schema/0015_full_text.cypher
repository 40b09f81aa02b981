// what: create the full-text indexes, which are brought up to date after a commit, and not in it: with
//   Lucene that took most of the time of an insert. Searches wait for what was committed before them.
//   Those of earlier versions are dropped before; each statement ends with a semicolon
// Terms are hashed together with their space, so the analyser only has to split at white space.
CREATE FULLTEXT INDEX chunk_lexemes IF NOT EXISTS FOR (n:Chunk) ON EACH [n.lexemes]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}};
CREATE FULLTEXT INDEX triple_lexemes IF NOT EXISTS FOR (n:Triple) ON EACH [n.lexemes]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}};
