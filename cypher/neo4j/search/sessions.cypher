// what: read the sessions of candidates with the values that ranking needs
// parameters: space, sessions (uids), vector (or null), terms
// returns: uid, id, best theme similarity (null without themes), length of the themes, terms found
//   in them, and 0 and an empty list in place of the keys that sessions_keys.cypher returns
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
RETURN session.uid, session.id, best, length, found, 0, []
ORDER BY session.uid
