-- The graph of stores/protocols.py as tables. Node tables have an integer id for joins and a unique
-- hashed uid. Times are integer microseconds since 1970 UTC.
-- Each searchable layer has a narrow *_index table with vectors, terms and join columns, which is
-- read in bulk into memory. Its column `changed` is the space's revision at the row's last change.

CREATE TABLE space (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL DEFAULT 0,   -- grows with every write to the space
  epoch INTEGER NOT NULL DEFAULT 0       -- grows when rows disappear: caches start over
) STRICT;

CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  space_id INTEGER NOT NULL REFERENCES space(id),
  name TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  messages INTEGER NOT NULL DEFAULT 0,
  chunks INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 0,    -- revisions of its keys and themes so far
  changed INTEGER NOT NULL DEFAULT 0,    -- the space's revision at the last of them
  state TEXT NOT NULL DEFAULT '',        -- the summariser's memory
  lease TEXT,                            -- token of the worker that reads this session now
  lease_until INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_name ON session(space_id, name);
CREATE INDEX session_newest ON session(space_id, ended_at DESC);
CREATE INDEX session_leased ON session(lease_until) WHERE lease IS NOT NULL;
CREATE INDEX session_changed ON session(space_id, changed);

-- AUTOINCREMENT: ids are never reused, so their order is the order of arrival.
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  space_id INTEGER NOT NULL REFERENCES space(id),
  session_id INTEGER NOT NULL REFERENCES session(id),
  message_id TEXT NOT NULL,
  part INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  speaker TEXT,
  at INTEGER NOT NULL,
  text TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT;
CREATE INDEX chunk_order ON chunk(session_id, at, id);   -- NEXT
CREATE INDEX chunk_message ON chunk(space_id, message_id);

CREATE TABLE chunk_index (
  chunk_id INTEGER PRIMARY KEY REFERENCES chunk(id),
  space_id INTEGER NOT NULL,
  session_id INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  at INTEGER NOT NULL,
  speaker TEXT,
  question INTEGER NOT NULL,
  length INTEGER NOT NULL,
  uid BLOB NOT NULL,
  terms BLOB NOT NULL,
  vector BLOB NOT NULL
) STRICT;
CREATE INDEX chunk_index_changed ON chunk_index(space_id, changed);

-- Enrichment state of each chunk: 0 pending, 1 done, 2 failed (parked).
CREATE TABLE work (
  chunk_id INTEGER PRIMARY KEY REFERENCES chunk(id),
  space_id INTEGER NOT NULL,
  session_id INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  lease TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  retry_at INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  extractor TEXT
) STRICT;
CREATE INDEX work_pending ON work(chunk_id) WHERE state = 0;
CREATE INDEX work_pending_space ON work(space_id, chunk_id) WHERE state = 0;
CREATE INDEX work_state ON work(space_id, state);

CREATE TABLE entity (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  space_id INTEGER NOT NULL REFERENCES space(id),
  name TEXT NOT NULL,
  normalised TEXT NOT NULL,
  type TEXT NOT NULL,
  key TEXT NOT NULL
) STRICT;
CREATE INDEX entity_key ON entity(space_id, key);

CREATE TABLE triple (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  space_id INTEGER NOT NULL REFERENCES space(id),
  subject_id INTEGER NOT NULL REFERENCES entity(id),
  object_id INTEGER NOT NULL REFERENCES entity(id),
  subject TEXT NOT NULL,
  relation TEXT NOT NULL,
  object TEXT NOT NULL,
  when_text TEXT,
  valid_from INTEGER,
  valid_to INTEGER,
  negated INTEGER NOT NULL,
  first_observed INTEGER NOT NULL,
  last_observed INTEGER NOT NULL
) STRICT;
CREATE INDEX triple_subject ON triple(subject_id);
CREATE INDEX triple_object ON triple(object_id);
CREATE INDEX triple_newest ON triple(space_id, last_observed DESC);

CREATE TABLE triple_index (
  triple_id INTEGER PRIMARY KEY REFERENCES triple(id),
  space_id INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  subject_id INTEGER NOT NULL,
  object_id INTEGER NOT NULL,
  first_observed INTEGER NOT NULL,
  last_observed INTEGER NOT NULL,
  length INTEGER NOT NULL,
  uid BLOB NOT NULL,
  terms BLOB NOT NULL,
  vector BLOB NOT NULL
) STRICT;
CREATE INDEX triple_index_changed ON triple_index(space_id, changed);

CREATE TABLE evidence (
  triple_id INTEGER NOT NULL REFERENCES triple(id),
  chunk_id INTEGER NOT NULL REFERENCES chunk(id),
  observed_at INTEGER NOT NULL,
  PRIMARY KEY (triple_id, chunk_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_chunk ON evidence(chunk_id);

CREATE TABLE mention (
  chunk_id INTEGER NOT NULL REFERENCES chunk(id),
  entity_id INTEGER NOT NULL REFERENCES entity(id),
  PRIMARY KEY (chunk_id, entity_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_entity ON mention(entity_id);

CREATE TABLE key (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  space_id INTEGER NOT NULL REFERENCES space(id),
  name TEXT NOT NULL,
  vector BLOB NOT NULL
) STRICT;
CREATE INDEX key_space ON key(space_id);

CREATE TABLE session_key (
  session_id INTEGER NOT NULL REFERENCES session(id),
  key_id INTEGER NOT NULL REFERENCES key(id),
  weight REAL NOT NULL,
  PRIMARY KEY (session_id, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE theme (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  space_id INTEGER NOT NULL REFERENCES space(id),
  session_id INTEGER NOT NULL REFERENCES session(id),
  place INTEGER NOT NULL,
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  length INTEGER NOT NULL,
  terms BLOB NOT NULL,
  vector BLOB NOT NULL
) STRICT;
CREATE INDEX theme_session ON theme(session_id, place);
