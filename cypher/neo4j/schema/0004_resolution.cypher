// what: create constraints and indexes for entity resolution; each statement ends with a semicolon

// Entities and triples as extracted keep these labels, whether or not they are canonical.
CREATE CONSTRAINT named_uid IF NOT EXISTS FOR (n:Named) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT fact_uid IF NOT EXISTS FOR (n:Fact) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT alias_uid IF NOT EXISTS FOR (n:Alias) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT block_uid IF NOT EXISTS FOR (n:Block) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT merge_uid IF NOT EXISTS FOR (n:Merge) REQUIRE n.uid IS UNIQUE;
CREATE INDEX alias_anchor IF NOT EXISTS FOR (n:Alias) ON (n.anchor);
CREATE INDEX alias_name IF NOT EXISTS FOR (n:Alias) ON (n.name_hash);
CREATE INDEX alias_space IF NOT EXISTS FOR (n:Alias) ON (n.space);
CREATE INDEX fact_fold IF NOT EXISTS FOR (n:Fact) ON (n.fold);
CREATE INDEX merge_newest IF NOT EXISTS FOR (n:Merge) ON (n.owner, n.seq);
