// what: give themes of a session, by title, the uids that they had before, unless a theme beside
//   them has one of these; they are exchanged by way of uids that no theme can have
// parameters: session (uid), uids: {title: uid}
MATCH (session:Session {uid: $session})-[:HAS_THEME]->(theme:Theme)
WHERE $uids[theme.title] <> theme.uid
WITH collect(theme) AS moved, collect($uids[theme.title]) AS wanted
CALL (moved, wanted) {
  UNWIND wanted AS uid
  MATCH (other:Theme {uid: uid}) WHERE NOT other IN moved
  RETURN count(other) AS taken
}
WITH moved WHERE taken = 0
UNWIND moved AS theme
SET theme.uid = 'was ' + theme.uid
WITH collect(theme) AS moved
UNWIND moved AS theme
SET theme.uid = $uids[theme.title]
