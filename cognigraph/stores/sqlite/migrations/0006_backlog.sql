-- Due summaries (sessions whose summary lacks turns that were extracted), and the number of crashes
-- of processes that held a chunk.

ALTER TABLE work ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;

CREATE TABLE behind (
  session_id INTEGER PRIMARY KEY REFERENCES session(id),
  space_id INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,        -- as of work: 0 pending, 2 failed (parked)
  attempts INTEGER NOT NULL DEFAULT 0,
  outages INTEGER NOT NULL DEFAULT 0,
  deaths INTEGER NOT NULL DEFAULT 0,
  retry_at INTEGER NOT NULL DEFAULT 0,
  reason TEXT
) STRICT;

-- The state of a session that is extracted again must not be extended.
UPDATE session SET state = '' WHERE renew = 1;

-- Turns that a model could not summarise used to wait for the session's next turn.
INSERT INTO behind (session_id, space_id)
SELECT id, space_id FROM session WHERE state LIKE '{"model":1,"unread":[[%';
