-- Which facts are current. A slot is what a fact makes a claim about (cognigraph/states/slots.py);
-- the standing of a fact is decided from all claims about its slot. From here on valid_from and
-- valid_to are those of the state, open where they are NULL.

ALTER TABLE triple ADD COLUMN slot TEXT;                          -- NULL: it claims nothing
ALTER TABLE triple ADD COLUMN replaces INTEGER NOT NULL DEFAULT 0;    -- of any evidence
ALTER TABLE triple ADD COLUMN status TEXT NOT NULL DEFAULT 'current';
ALTER TABLE triple ADD COLUMN superseded_by TEXT;                 -- uid of a triple
ALTER TABLE triple ADD COLUMN superseded_at INTEGER;              -- when that was said
ALTER TABLE triple ADD COLUMN decided_by TEXT;                    -- rules, user; NULL: no decision
ALTER TABLE triple ADD COLUMN reason TEXT;
ALTER TABLE evidence ADD COLUMN replaces INTEGER NOT NULL DEFAULT 0;

CREATE INDEX triple_slot ON triple(subject_id, slot) WHERE slot IS NOT NULL;
CREATE INDEX triple_object_slot ON triple(object_id, slot) WHERE slot >= '<' AND slot < '=';
CREATE INDEX triple_replacing ON triple(subject_id, slot) WHERE replaces = 1;

-- What users said of facts. By uid, because a fact that is read again is another row.
CREATE TABLE state_ruling (
  space_id INTEGER NOT NULL REFERENCES space(id),
  uid TEXT NOT NULL,
  kind TEXT NOT NULL,                      -- supersede, retract, restore
  by_uid TEXT,                             -- of the triple that supersedes it
  at INTEGER,                              -- when it ended
  reason TEXT NOT NULL,
  recorded INTEGER NOT NULL,               -- orders rulings
  PRIMARY KEY (space_id, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX state_ruling_by ON state_ruling(space_id, by_uid) WHERE by_uid IS NOT NULL;
