// what: link chunks of a session to their successors
// parameters: pairs: [[uid, uid of the next chunk]]
UNWIND $pairs AS pair
MATCH (before:Chunk {uid: pair[0]})
WITH before, pair[1] AS next
MATCH (after:Chunk {uid: next})
CREATE (before)-[:NEXT]->(after)
