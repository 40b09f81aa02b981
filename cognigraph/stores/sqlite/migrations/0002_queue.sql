-- What a queue of paid work needs: outages that are not the chunk's fault, sessions that are read
-- again from their beginning, revisions of summaries, and messages that quote the memory itself.

ALTER TABLE work ADD COLUMN outages INTEGER NOT NULL DEFAULT 0;   -- in a row, of what reads it

-- A pending chunk with an extractor has been read before: what that one found serves until the
-- chunk is done again.
ALTER TABLE session ADD COLUMN renew INTEGER NOT NULL DEFAULT 0;  -- its notes start anew

ALTER TABLE chunk ADD COLUMN fresh TEXT;   -- the text without recalled parts; NULL: all of it

CREATE TABLE revision (
  uid TEXT NOT NULL UNIQUE,
  session_id INTEGER NOT NULL REFERENCES session(id),
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  extractor TEXT NOT NULL,
  keys TEXT NOT NULL,                      -- JSON: names, heaviest first
  themes TEXT NOT NULL,                    -- JSON: [title, summary]
  PRIMARY KEY (session_id, version)
) STRICT, WITHOUT ROWID;
