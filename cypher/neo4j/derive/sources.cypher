// what: link aliases to the chunks that state them
// parameters: sources: [[alias uid, chunk uid]] sorted
// returns: nothing
UNWIND $sources AS row
MATCH (alias:Alias {uid: row[0]})
WITH alias, row[1] AS source
MATCH (chunk:Chunk {uid: source})
MERGE (alias)-[:STATED_IN]->(chunk)
