// what: link triples, or those they are duplicates of, to the chunks they were extracted from, and
//   extend their observed time to these chunks
// parameters: session (uid), evidence: [[triple uid, chunk uid, person quoted or null,
//   how the chunk spells it, true if it replaces other triples or null]] sorted
MATCH (session:Session {uid: $session})
UNWIND $evidence AS row
MATCH (read:Fact {uid: row[0]})
WITH session, read, row, row[1] AS source
MATCH (chunk:Chunk {uid: source})
OPTIONAL MATCH (read)-[:SAME_AS]->(other:Fact)
WITH session, read, row, chunk, coalesce(other, read) AS triple
OPTIONAL MATCH (triple)-[known:EVIDENCE]->(chunk)
WHERE coalesce(known.raw, triple.uid) = read.uid
WITH session, read, row, chunk, triple, count(known) AS known
FOREACH (_ IN CASE WHEN known = 0 THEN [1] ELSE [] END |
  CREATE (triple)-[:EVIDENCE {observed_at: chunk.at, said_by: row[2], spelled: row[3], replaces: row[4],
                              raw: CASE WHEN triple = read THEN null ELSE read.uid END}]->(chunk))
MERGE (triple)-[:IN_SESSION]->(session)
SET triple.first_observed =
      CASE WHEN chunk.at < triple.first_observed THEN chunk.at ELSE triple.first_observed END,
    triple.last_observed =
      CASE WHEN chunk.at > triple.last_observed THEN chunk.at ELSE triple.last_observed END
