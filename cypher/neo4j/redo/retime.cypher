// what: give triples the observed times and the sessions of the evidence that is left
// parameters: triples (uids)
// returns: uids of those without any
UNWIND $triples AS uid
MATCH (triple:Triple {uid: uid})
CALL (triple) {
  OPTIONAL MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
  RETURN min(evidence.observed_at) AS first, max(evidence.observed_at) AS last,
         collect(chunk.session_uid) AS sessions
}
CALL (triple, sessions) {
  OPTIONAL MATCH (triple)-[inside:IN_SESSION]->(session:Session)
  WITH inside, session WHERE NOT session.uid IN sessions
  WITH collect(inside) AS all
  FOREACH (inside IN all | DELETE inside)
}
FOREACH (_ IN CASE WHEN first IS NULL THEN [] ELSE [1] END |
  SET triple.first_observed = first, triple.last_observed = last)
WITH triple, first
WHERE first IS NULL
RETURN collect(triple.uid)
