-- Whether a chunk still waits for its vector, which is made in the background if the memory was
-- opened so; until then it has the zero vector.

ALTER TABLE work ADD COLUMN unembedded INTEGER NOT NULL DEFAULT 0;
CREATE INDEX work_unembedded ON work (space_id, chunk_id) WHERE unembedded;
