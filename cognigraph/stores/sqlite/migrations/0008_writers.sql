-- What writers keep beside facts, in versions: the core profile of a space, and procedures. A version
-- supersedes the one before it in its chain.

CREATE TABLE written (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  space_id INTEGER NOT NULL REFERENCES space(id),
  kind TEXT NOT NULL,                      -- profile, procedure
  chain TEXT NOT NULL,                     -- which profile or procedure it is
  version INTEGER NOT NULL,                -- from 1
  at INTEGER NOT NULL,                     -- when the newest source was said
  title TEXT NOT NULL,
  text TEXT NOT NULL,                      -- of a procedure: the context in which it holds
  steps TEXT NOT NULL,                     -- a JSON list
  UNIQUE (space_id, chain, version)
) STRICT;

CREATE TABLE written_source (
  written_id INTEGER NOT NULL REFERENCES written(id) ON DELETE CASCADE,
  chunk_id INTEGER NOT NULL REFERENCES chunk(id) ON DELETE CASCADE,
  PRIMARY KEY (written_id, chunk_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX written_source_chunk ON written_source(chunk_id);

-- Episodes that were made out of others, which stay.
CREATE TABLE derived_from (
  theme_id INTEGER NOT NULL REFERENCES theme(id) ON DELETE CASCADE,
  source_uid TEXT NOT NULL,                -- of a theme of the session
  PRIMARY KEY (theme_id, source_uid)
) STRICT, WITHOUT ROWID;
