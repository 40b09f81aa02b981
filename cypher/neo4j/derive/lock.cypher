// what: lock a space before a derivation is written; writers take turns, which prevents deadlocks
// parameters: space, generation (of the embedder), session (uid), token, triples (uids),
//   count (of new arrival numbers)
// returns: seq, triple_labels, theme_labels, known (uids of the triples that exist already);
//   no row if the lease was lost or the embedder changed
MERGE (facts:SpaceFacts {name: $space})
  ON CREATE SET facts.seq = 0, facts.triples = 0, facts.length = 0, facts.themes = 0,
                facts.triple_labels = [], facts.triple_indexed = false,
                facts.theme_labels = [], facts.theme_indexed = false
SET facts.seq = facts.seq + $count
WITH facts
MATCH (session:Session {uid: $session})
WHERE session.lease = $token AND EXISTS {
  MATCH (meta:CogniGraph {uid: 'cognigraph'}) WHERE coalesce(meta.generation, 1) = $generation
}
OPTIONAL MATCH (triple:Fact) WHERE triple.uid IN $triples
RETURN facts.seq - $count, facts.triple_labels, facts.theme_labels, collect(triple.uid)
