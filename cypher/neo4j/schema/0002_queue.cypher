// what: create constraint and index for revisions of session summaries
CREATE CONSTRAINT revision_uid IF NOT EXISTS FOR (n:Revision) REQUIRE n.uid IS UNIQUE;
CREATE INDEX revision_version IF NOT EXISTS FOR (n:Revision) ON (n.session_uid, n.version);
