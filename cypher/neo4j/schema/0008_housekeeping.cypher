// what: create indexes for listing messages in order of time, for messages that were forgotten and
//   for earlier texts of updated messages; each statement ends with a semicolon
CREATE INDEX chunk_time IF NOT EXISTS FOR (n:Chunk) ON (n.space, n.at, n.seq);
CREATE CONSTRAINT forgotten_uid IF NOT EXISTS FOR (n:Forgotten) REQUIRE n.uid IS UNIQUE;
CREATE INDEX forgotten_space IF NOT EXISTS FOR (n:Forgotten) ON (n.space);
CREATE CONSTRAINT version_uid IF NOT EXISTS FOR (n:Version) REQUIRE n.uid IS UNIQUE;
CREATE INDEX version_message IF NOT EXISTS FOR (n:Version) ON (n.message, n.number);
CREATE INDEX version_space IF NOT EXISTS FOR (n:Version) ON (n.space);
CREATE INDEX state_ruling_by IF NOT EXISTS FOR (n:StateRuling) ON (n.superseded_by);
