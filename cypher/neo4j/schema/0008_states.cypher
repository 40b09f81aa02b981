// what: indexes of episodes (themes that cover chunks) by their end, of messages by time and by when
//   they expire, of forgotten and of updated messages, of slots, of what users said of facts, and of
//   what writers keep; each statement ends with a semicolon
CREATE INDEX theme_newest IF NOT EXISTS FOR (n:Theme) ON (n.space, n.ended_at);
CREATE INDEX chunk_time IF NOT EXISTS FOR (n:Chunk) ON (n.space, n.at, n.seq);
CREATE INDEX chunk_expires IF NOT EXISTS FOR (n:Chunk) ON (n.space, n.expires);
CREATE CONSTRAINT forgotten_uid IF NOT EXISTS FOR (n:Forgotten) REQUIRE n.uid IS UNIQUE;
CREATE INDEX forgotten_space IF NOT EXISTS FOR (n:Forgotten) ON (n.space);
CREATE CONSTRAINT version_uid IF NOT EXISTS FOR (n:Version) REQUIRE n.uid IS UNIQUE;
CREATE INDEX version_message IF NOT EXISTS FOR (n:Version) ON (n.message, n.number);
CREATE INDEX version_space IF NOT EXISTS FOR (n:Version) ON (n.space);
// holder is the uid of the entity whose slot it is: the subject's or the object's.
CREATE INDEX triple_slot IF NOT EXISTS FOR (n:Triple) ON (n.holder, n.slot);
// The uid is that of the triple.
CREATE CONSTRAINT state_ruling_uid IF NOT EXISTS FOR (n:StateRuling) REQUIRE n.uid IS UNIQUE;
CREATE INDEX state_ruling_by IF NOT EXISTS FOR (n:StateRuling) ON (n.superseded_by);
CREATE INDEX state_ruling_space IF NOT EXISTS FOR (n:StateRuling) ON (n.space);
CREATE CONSTRAINT written_uid IF NOT EXISTS FOR (n:Written) REQUIRE n.uid IS UNIQUE;
CREATE INDEX written_chain IF NOT EXISTS FOR (n:Written) ON (n.space, n.chain, n.version);
// Before this version, a message's role followed from its speaker's name.
MATCH (chunk:Chunk)
WHERE chunk.role IS NULL
  AND toLower(trim(chunk.speaker)) IN ['user', 'assistant', 'system', 'tool']
SET chunk.role = toLower(trim(chunk.speaker));
