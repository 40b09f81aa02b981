// what: link aliases to the chunks that state them
// parameters: sources: [[alias uid, chunk uid, how the chunk spells it]] sorted
UNWIND $sources AS row
MATCH (alias:Alias {uid: row[0]})
WITH alias, row, row[1] AS source
MATCH (chunk:Chunk {uid: source})
MERGE (alias)-[stated:STATED_IN]->(chunk)
SET stated.spelled = row[2]
