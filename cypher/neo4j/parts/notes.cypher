// what: what a summariser needs of a session
// takes: session
// gives: keys [[name, weight]] (heaviest first),
//   themes [[title, summary, uid, reason, [[index, chunk uid]], [uids of themes]]]
CALL (session) {
  MATCH (session)-[has:HAS_KEY]->(key:Key)
  WITH has, key ORDER BY has.weight DESC, key.name
  RETURN collect([key.name, has.weight]) AS keys
}
CALL (session) {
  MATCH (session)-[:HAS_THEME]->(theme:Theme)
  CALL (theme) {
    MATCH (theme)-[covers:COVERS]->(chunk:Chunk)
    RETURN collect([covers.index, chunk.uid]) AS covers
  }
  WITH theme, covers ORDER BY theme.place
  RETURN collect([theme.title, theme.summary, theme.uid, theme.reason, covers,
    [(theme)-[:DERIVED_FROM]->(source:Theme) | source.uid]]) AS themes
}
