// what: create the themes of a session
// parameters: session (uid), labels, themes: [{properties, vector, ranking (packed)}]
MATCH (session:Session {uid: $session})
UNWIND $themes AS row
CREATE (theme:Theme {uid: row.properties.uid})
SET theme += row.properties, theme:$($labels)
CREATE (session)-[:HAS_THEME]->(theme)
WITH theme, row
CALL (theme, row) {
  WITH theme, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(theme, 'embedding', row.vector)
}
SET theme.packed = row.ranking
