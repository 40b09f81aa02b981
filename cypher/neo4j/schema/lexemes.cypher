// what: write what the full-text index has of chunks
// parameters: rows: [[uid, lexemes]]
UNWIND $rows AS row
MATCH (chunk:Chunk {uid: row[0]})
SET chunk.lexemes = row[1]
