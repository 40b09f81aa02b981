-- Vectors of the names of entities, to find names of similar meaning. Entities of older files have
-- none until they are mentioned again or the file is reindexed.

CREATE TABLE name_vector (
  entity_id INTEGER PRIMARY KEY REFERENCES entity(id) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;

CREATE TABLE entity_next (
  id INTEGER PRIMARY KEY REFERENCES entity(id) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;

-- Equal names of which one has a generic type are the least suspect pairs.
UPDATE pair SET score = 0.3 WHERE kind = 'untyped';
