-- Vectors of the names of entities, by which names that mean nearly the same are found. Entities of
-- older files have none until they are said again or the file is reindexed.

CREATE TABLE name_vector (
  entity_id INTEGER PRIMARY KEY REFERENCES entity(id) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;

CREATE TABLE entity_next (
  id INTEGER PRIMARY KEY REFERENCES entity(id) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;

-- One name, once without a real type: suspected last of all.
UPDATE pair SET score = 0.3 WHERE kind = 'untyped';
