-- Vectors of the next embedder, collected beside the ones in use until all are made (reindex.py).
-- They are deleted with their row, because the ids of themes and keys are reused.

CREATE TABLE chunk_next (
  id INTEGER PRIMARY KEY REFERENCES chunk(id) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;

CREATE TABLE triple_next (
  id INTEGER PRIMARY KEY REFERENCES triple(id) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;

CREATE TABLE key_next (
  id INTEGER PRIMARY KEY REFERENCES key(id) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;

CREATE TABLE theme_next (
  id INTEGER PRIMARY KEY REFERENCES theme(id) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;
