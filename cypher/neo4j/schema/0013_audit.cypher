// what: create the constraint and the index of the audit log; each statement ends with a semicolon
CREATE CONSTRAINT audit_uid IF NOT EXISTS FOR (n:Audit) REQUIRE n.uid IS UNIQUE;
CREATE INDEX audit_owner IF NOT EXISTS FOR (n:Audit) ON (n.owner, n.at);
CREATE INDEX audit_at IF NOT EXISTS FOR (n:Audit) ON (n.at);
