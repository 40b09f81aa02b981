-- Who stored a message, and the audit log: decisions of users, corrections and removals. The log has
-- neither texts nor names, nothing changes or deletes its rows, and it outlives the spaces.

ALTER TABLE message_data ADD COLUMN written_by TEXT;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  space TEXT NOT NULL,                     -- its name: it may be deleted
  action TEXT NOT NULL,
  by TEXT,                                 -- who acted
  subjects TEXT NOT NULL,                  -- a JSON list of uids
  details TEXT NOT NULL                    -- a JSON object: criteria, and counts
) STRICT;
CREATE INDEX audit_space ON audit(space, id);
CREATE TRIGGER audit_kept BEFORE UPDATE ON audit
BEGIN SELECT raise(ABORT, 'the audit log is append only'); END;
CREATE TRIGGER audit_undeleted BEFORE DELETE ON audit
BEGIN SELECT raise(ABORT, 'the audit log is append only'); END;
