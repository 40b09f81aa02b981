-- Vectors of another embedder, collected beside the ones in use until all are there (reindex.py).
-- They go with the row they belong to: ids of themes and keys are used again.

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
