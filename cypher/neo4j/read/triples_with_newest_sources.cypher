// what: read triples by uid with their newest sources, and those in some chunks
// parameters: space, uids, count (of newest sources), chunks (uids), until (or null)
// returns: as parts/fact, and the number of sources that were left out
UNWIND $uids AS uid
MATCH (triple:Triple {uid: uid})
WHERE triple.space = $space
MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
CALL (triple) {
  MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
  WHERE $until IS NULL OR evidence.observed_at <= $until
  WITH evidence, chunk ORDER BY evidence.observed_at DESC
  WITH collect({evidence: evidence, chunk: chunk}) AS found
  WITH found, found[..$count] + [one IN found[$count..] WHERE one.chunk.uid IN $chunks] AS chosen
  RETURN size(found) - size(chosen) AS older,
         [one IN chosen |
          [micros(one.evidence.observed_at), one.chunk.message_id, one.chunk.session,
           one.evidence.said_by, one.chunk.facts IS NOT NULL]] AS sources
}
// part: fact
, older
