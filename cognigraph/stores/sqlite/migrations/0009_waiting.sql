-- Since when a chunk has been pending, in microseconds by the clock of the machine. What waited
-- before this was recorded counts from now on.

ALTER TABLE work ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
UPDATE work SET since = CAST(strftime('%s', 'now') AS INTEGER) * 1000000 WHERE state = 0;
