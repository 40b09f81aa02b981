// what: create uniqueness constraints, indexes and full-text indexes of the graph; each statement
//   ends with a semicolon

// Uniqueness of nodes by hashed uid, and of technical nodes by the name of their space.
CREATE CONSTRAINT cognigraph_uid IF NOT EXISTS FOR (n:CogniGraph) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT space_name IF NOT EXISTS FOR (n:Space) REQUIRE n.name IS UNIQUE;
CREATE CONSTRAINT space_facts_name IF NOT EXISTS FOR (n:SpaceFacts) REQUIRE n.name IS UNIQUE;
CREATE CONSTRAINT session_uid IF NOT EXISTS FOR (n:Session) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT chunk_uid IF NOT EXISTS FOR (n:Chunk) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT entity_uid IF NOT EXISTS FOR (n:Entity) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT triple_uid IF NOT EXISTS FOR (n:Triple) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT key_uid IF NOT EXISTS FOR (n:Key) REQUIRE n.uid IS UNIQUE;
CREATE CONSTRAINT theme_uid IF NOT EXISTS FOR (n:Theme) REQUIRE n.uid IS UNIQUE;

// A space's nodes in order of arrival, for exact vector scans and for nodes new since a search.
CREATE INDEX chunk_arrival IF NOT EXISTS FOR (n:Chunk) ON (n.space, n.seq);
CREATE INDEX triple_arrival IF NOT EXISTS FOR (n:Triple) ON (n.space, n.seq);
CREATE INDEX theme_arrival IF NOT EXISTS FOR (n:Theme) ON (n.space, n.seq);

// The queue of a session.
CREATE INDEX chunk_queue_of_session IF NOT EXISTS FOR (n:Chunk) ON (n.session_uid, n.state, n.at, n.seq);

// Neighbours in a session, messages by the caller's id, and listings.
CREATE INDEX chunk_order IF NOT EXISTS FOR (n:Chunk) ON (n.session_uid, n.at, n.seq);
CREATE INDEX chunk_message IF NOT EXISTS FOR (n:Chunk) ON (n.space, n.message_id);
CREATE INDEX session_lease IF NOT EXISTS FOR (n:Session) ON (n.lease_until);
CREATE INDEX session_newest IF NOT EXISTS FOR (n:Session) ON (n.space, n.ended_at);
CREATE INDEX triple_newest IF NOT EXISTS FOR (n:Triple) ON (n.space, n.last_observed);
CREATE INDEX key_space IF NOT EXISTS FOR (n:Key) ON (n.space);

// Entities by hashes of (space, stemmed name) and (space, normalised name), because a name can be
// longer than an index entry.
CREATE INDEX entity_space IF NOT EXISTS FOR (n:Entity) ON (n.space);
CREATE INDEX entity_anchor IF NOT EXISTS FOR (n:Entity) ON (n.anchor);
CREATE INDEX entity_name IF NOT EXISTS FOR (n:Entity) ON (n.name_hash);

