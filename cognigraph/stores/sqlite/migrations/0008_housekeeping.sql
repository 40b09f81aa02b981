-- Listing messages in order of time, messages that were forgotten, and texts that were replaced.

CREATE INDEX chunk_time ON chunk(space_id, at, id) WHERE part = 0;

-- What was forgotten does not come back when it is delivered again. Only the hash of its key stays.
CREATE TABLE forgotten (
  uid TEXT PRIMARY KEY,                    -- of its first chunk
  space_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX forgotten_space ON forgotten(space_id);

-- Earlier texts of messages that were updated.
CREATE TABLE version (
  uid TEXT NOT NULL,                       -- of the message's first chunk
  number INTEGER NOT NULL,                 -- from 1
  space_id INTEGER NOT NULL,
  replaced_at INTEGER NOT NULL,
  text TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (uid, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_space ON version(space_id);

CREATE INDEX session_key_key ON session_key(key_id);   -- which sessions still have a key
