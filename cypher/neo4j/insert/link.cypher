// what: chain chunks of a session
// parameters: pairs: [[uid, uid of the next chunk]]
// returns: nothing
UNWIND $pairs AS pair
MATCH (before:Chunk {uid: pair[0]})
MATCH (after:Chunk {uid: pair[1]})
CREATE (before)-[:NEXT]->(after)
