// what: create the indexes of messages that are to be forgotten at a time, and of what users said of
//   facts; since this version the first chunk of a stated fact has it as JSON; each statement ends
//   with a semicolon
CREATE INDEX chunk_expires IF NOT EXISTS FOR (n:Chunk) ON (n.space, n.expires);
CREATE INDEX state_ruling_space IF NOT EXISTS FOR (n:StateRuling) ON (n.space);
