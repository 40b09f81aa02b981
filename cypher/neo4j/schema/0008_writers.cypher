// what: create the constraint and the index of what writers keep in versions (profiles and
//   procedures); each statement ends with a semicolon
CREATE CONSTRAINT written_uid IF NOT EXISTS FOR (n:Written) REQUIRE n.uid IS UNIQUE;
CREATE INDEX written_chain IF NOT EXISTS FOR (n:Written) ON (n.space, n.chain, n.version);
