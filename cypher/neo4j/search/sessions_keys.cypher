// what: read the sessions of candidates, with their keys compared to the entities of the question
// parameters: space, sessions (uids), vector (or null), entities (vectors), terms
// returns: uid, id, best theme similarity (null without themes), length of the themes, terms found
//   in them, number of keys, best similarity of a key with each entity (empty without keys)
UNWIND $sessions AS uid
MATCH (session:Session {uid: uid})
WHERE session.space = $space
CALL (session) {
  OPTIONAL MATCH (session)-[:HAS_THEME]->(theme:Theme)
  RETURN max(CASE WHEN theme IS NULL THEN null
             ELSE coalesce(vector.similarity.cosine(theme.embedding, $vector), 0.5) END) AS best,
         sum(theme.length) AS length,
         collect([term IN theme.terms WHERE term IN $terms]) AS found
}
CALL (session) {
  MATCH (session)-[:HAS_KEY]->(key:Key)
  UNWIND range(0, size($entities) - 1) AS place
  WITH place,
       max(coalesce(vector.similarity.cosine(key.embedding, $entities[place]), 0.5)) AS nearest
  ORDER BY place
  RETURN collect(nearest) AS keys
}
RETURN session.uid, session.id, best, length, found, COUNT { (session)-[:HAS_KEY]->() }, keys
ORDER BY session.uid
