-- Names that mean nearly the same. Their vectors are kept with the embedder that made them: while
-- one is changed for another, an entity has one of each (reindex.py).

CREATE TABLE name_vector (
  entity_id INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
  embedder TEXT NOT NULL,          -- dimension and name
  vector BLOB NOT NULL             -- float16
) STRICT;
CREATE UNIQUE INDEX name_vector_of ON name_vector(entity_id, embedder);

-- Two entities whose names lie near each other; a before b by uid.
CREATE TABLE near (
  a_id INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
  b_id INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
  embedder TEXT NOT NULL,
  space_id INTEGER NOT NULL,
  score REAL NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (a_id, b_id, embedder)
) STRICT, WITHOUT ROWID;
CREATE INDEX near_other ON near(b_id);
CREATE INDEX near_best ON near(space_id, embedder, score DESC);

-- One name, once without a real type: suspected last of all.
UPDATE pair SET score = 0.3 WHERE kind = 'untyped';
