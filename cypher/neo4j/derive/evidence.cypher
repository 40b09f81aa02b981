// what: tie triples to the chunks they were read out of, and widen their observed time
// parameters: session (uid), evidence: [[triple uid, chunk uid]] sorted
// returns: nothing
MATCH (session:Session {uid: $session})
UNWIND $evidence AS pair
MATCH (triple:Triple {uid: pair[0]})
WITH session, triple, pair[1] AS source
MATCH (chunk:Chunk {uid: source})
MERGE (triple)-[evidence:EVIDENCE]->(chunk)
  ON CREATE SET evidence.observed_at = chunk.at
MERGE (triple)-[:IN_SESSION]->(session)
SET triple.first_observed =
      CASE WHEN chunk.at < triple.first_observed THEN chunk.at ELSE triple.first_observed END,
    triple.last_observed =
      CASE WHEN chunk.at > triple.last_observed THEN chunk.at ELSE triple.last_observed END
