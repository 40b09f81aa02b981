-- Entity resolution. Extracted rows stay unchanged (raw_*). The canonical entity of an entity, the
-- canonical subject and object of a triple, and the canonical triple of evidence are stored beside
-- them, so that a split can restore the extracted state. Existing rows keep their spelling, because
-- '' sorts before all others.

ALTER TABLE entity ADD COLUMN spelled TEXT NOT NULL DEFAULT '';       -- orders spellings
ALTER TABLE entity ADD COLUMN shown_id INTEGER REFERENCES entity(id); -- canonical, NULL: no group
CREATE INDEX entity_shown ON entity(shown_id) WHERE shown_id IS NOT NULL;
CREATE INDEX entity_name ON entity(space_id, normalised);

ALTER TABLE triple ADD COLUMN spelled TEXT NOT NULL DEFAULT '';
ALTER TABLE triple ADD COLUMN raw_subject_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE triple ADD COLUMN raw_object_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE triple ADD COLUMN fold TEXT;              -- the same for duplicates of each other
ALTER TABLE triple ADD COLUMN folded_into INTEGER REFERENCES triple(id);
UPDATE triple SET raw_subject_id = subject_id, raw_object_id = object_id;
CREATE INDEX triple_fold ON triple(fold) WHERE fold IS NOT NULL;
CREATE INDEX triple_folded ON triple(folded_into) WHERE folded_into IS NOT NULL;

CREATE TABLE new_evidence (
  raw_id INTEGER NOT NULL REFERENCES triple(id),      -- the triple that was read
  chunk_id INTEGER NOT NULL REFERENCES chunk(id),
  triple_id INTEGER NOT NULL REFERENCES triple(id),   -- the triple that is shown
  observed_at INTEGER NOT NULL,
  said_by TEXT,                                       -- who is quoted, if not the speaker
  PRIMARY KEY (raw_id, chunk_id)
) STRICT, WITHOUT ROWID;
INSERT INTO new_evidence SELECT triple_id, chunk_id, triple_id, observed_at, NULL FROM evidence;
DROP TABLE evidence;
ALTER TABLE new_evidence RENAME TO evidence;
CREATE INDEX evidence_chunk ON evidence(chunk_id);
CREATE INDEX evidence_shown ON evidence(triple_id, chunk_id, observed_at);

CREATE TABLE new_mention (
  chunk_id INTEGER NOT NULL REFERENCES chunk(id),
  raw_id INTEGER NOT NULL,         -- an entity; a reference would need an index of its own
  entity_id INTEGER NOT NULL REFERENCES entity(id),
  PRIMARY KEY (chunk_id, raw_id)
) STRICT, WITHOUT ROWID;
INSERT INTO new_mention SELECT chunk_id, entity_id, entity_id FROM mention;
DROP TABLE mention;
ALTER TABLE new_mention RENAME TO mention;
CREATE INDEX mention_entity ON mention(entity_id, raw_id);

-- Other names of an entity that the text states.
CREATE TABLE alias (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  space_id INTEGER NOT NULL REFERENCES space(id),
  entity_id INTEGER NOT NULL REFERENCES entity(id),
  name TEXT NOT NULL,
  normalised TEXT NOT NULL,
  key TEXT NOT NULL,
  spelled TEXT NOT NULL
) STRICT;
CREATE INDEX alias_key ON alias(space_id, key);
CREATE INDEX alias_name ON alias(space_id, normalised);
CREATE INDEX alias_entity ON alias(entity_id);

CREATE TABLE alias_source (
  alias_id INTEGER NOT NULL REFERENCES alias(id),
  chunk_id INTEGER NOT NULL REFERENCES chunk(id),
  PRIMARY KEY (alias_id, chunk_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_source_chunk ON alias_source(chunk_id);

-- Names are compared only within blocks.
CREATE TABLE block (
  space_id INTEGER NOT NULL,
  key INTEGER NOT NULL,
  entity_id INTEGER NOT NULL,      -- no reference, as for a mention
  PRIMARY KEY (space_id, key, entity_id)
) STRICT, WITHOUT ROWID;

-- Two entities that may be the same, and the verdict. The uid of a sorts before that of b.
CREATE TABLE pair (
  a_id INTEGER NOT NULL REFERENCES entity(id),
  b_id INTEGER NOT NULL REFERENCES entity(id),
  space_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  score REAL NOT NULL,
  likely INTEGER NOT NULL,
  reason TEXT NOT NULL,
  reading_a TEXT,
  reading_b TEXT,
  verdict TEXT NOT NULL,
  PRIMARY KEY (a_id, b_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pair_other ON pair(b_id);
CREATE INDEX pair_best ON pair(space_id, score DESC);

-- Constraints by users: two entities are the same, or different.
CREATE TABLE ruling (
  a_id INTEGER NOT NULL REFERENCES entity(id),
  b_id INTEGER NOT NULL REFERENCES entity(id),
  verdict TEXT NOT NULL,
  into_id INTEGER NOT NULL REFERENCES entity(id),
  at INTEGER NOT NULL,
  PRIMARY KEY (a_id, b_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ruling_other ON ruling(b_id);

-- Merges, undone and in force.
CREATE TABLE merge (
  id INTEGER PRIMARY KEY,
  space_id INTEGER NOT NULL REFERENCES space(id),
  a_id INTEGER NOT NULL REFERENCES entity(id),
  into_id INTEGER NOT NULL REFERENCES entity(id),
  by TEXT NOT NULL,
  reason TEXT NOT NULL,
  score REAL NOT NULL,
  at INTEGER NOT NULL,
  undone_at INTEGER
) STRICT;
CREATE INDEX merge_space ON merge(space_id, id);
CREATE INDEX merge_a ON merge(a_id);
CREATE INDEX merge_into ON merge(into_id);
