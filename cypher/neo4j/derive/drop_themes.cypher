// what: delete the themes of a session
// parameters: session (uid)
// returns: number of themes deleted, [[uid of a theme of another session, [uid of a deleted one that
//   it was made out of]]]
MATCH (session:Session {uid: $session})
OPTIONAL MATCH (session)-[:HAS_THEME]->(theme:Theme)
WITH collect(theme) AS themes
WITH themes, reduce(pairs = [], theme IN themes | pairs +
  [(theme)<-[:DERIVED_FROM]-(other:Theme) WHERE other.session_uid <> $session |
   [other.uid, [theme.uid]]]) AS pairs
FOREACH (theme IN themes | DETACH DELETE theme)
RETURN size(themes), pairs
