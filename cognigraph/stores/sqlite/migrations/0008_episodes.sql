-- A theme is an episode: it covers chunks of its session, and chunks may be in several. Themes of
-- older versions cover nothing until their session's summary is written again.

ALTER TABLE theme ADD COLUMN reason TEXT NOT NULL DEFAULT '';     -- why it begins where it does
ALTER TABLE theme ADD COLUMN started_at INTEGER;                  -- of the chunks that it covers;
ALTER TABLE theme ADD COLUMN ended_at INTEGER;                    -- NULL: none
CREATE INDEX theme_newest ON theme(space_id, ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE covers (
  theme_id INTEGER NOT NULL REFERENCES theme(id) ON DELETE CASCADE,
  place INTEGER NOT NULL,                  -- order within the theme
  chunk_id INTEGER NOT NULL REFERENCES chunk(id) ON DELETE CASCADE,
  PRIMARY KEY (theme_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX covers_chunk ON covers(chunk_id);
