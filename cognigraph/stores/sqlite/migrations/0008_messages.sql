-- What a message carries beside its text. A role that was never given follows from the speaker's
-- name, as it does for new messages (model/roles.py).

ALTER TABLE chunk ADD COLUMN role TEXT;                           -- NULL: a person
ALTER TABLE chunk ADD COLUMN heading TEXT;                        -- of a part: where it stands
ALTER TABLE chunk_index ADD COLUMN role INTEGER NOT NULL DEFAULT 0;   -- number in ROLES; 0: none

-- One row for each message that has anything to keep; chunk_id is its first chunk. The chunks of a
-- message are written together, so the first one of a chunk is id - part.
CREATE TABLE message_data (
  chunk_id INTEGER PRIMARY KEY REFERENCES chunk(id) ON DELETE CASCADE,
  space_id INTEGER NOT NULL,
  parts INTEGER NOT NULL,                  -- number of chunks of the message
  metadata TEXT,                           -- a JSON object
  tags TEXT,                               -- a JSON list of strings, sorted
  raw TEXT                                 -- the message as it was given, JSON
) STRICT;
CREATE INDEX message_data_space ON message_data(space_id);

UPDATE chunk SET role = lower(trim(speaker, char(32, 9, 10, 13)))
WHERE lower(trim(speaker, char(32, 9, 10, 13))) IN ('user', 'assistant', 'system', 'tool');
UPDATE chunk_index SET role = CASE lower(trim(speaker, char(32, 9, 10, 13)))
  WHEN 'user' THEN 1 WHEN 'assistant' THEN 2 WHEN 'system' THEN 3 ELSE 4 END
WHERE lower(trim(speaker, char(32, 9, 10, 13))) IN ('user', 'assistant', 'system', 'tool');
