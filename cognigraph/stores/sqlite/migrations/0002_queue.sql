-- Additions for extractors that call a paid model: outages that are not the chunk's fault, sessions
-- that are extracted again from their start, revisions of summaries, and messages that quote the
-- memory itself.

ALTER TABLE work ADD COLUMN outages INTEGER NOT NULL DEFAULT 0;   -- of the extractor, in a row

-- A pending chunk with an extractor was extracted before. Its facts are used until the chunk is
-- done again.
ALTER TABLE session ADD COLUMN renew INTEGER NOT NULL DEFAULT 0;  -- replace the keys and themes

ALTER TABLE chunk ADD COLUMN fresh TEXT;   -- the text without recalled parts, NULL if it has none

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
