// what: create the index of messages that are to be forgotten at a time; since this version the first
//   chunk of a message that an application stated has these facts (JSON)
// parameters: none
// returns: nothing
CREATE INDEX chunk_expires IF NOT EXISTS FOR (n:Chunk) ON (n.space, n.expires);
