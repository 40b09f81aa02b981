// what: give messages of older versions the role that follows from the speaker's name; since this
//   version chunks have a role, and the first chunk of a message its metadata, tags and raw form
MATCH (chunk:Chunk)
WHERE chunk.role IS NULL
  AND toLower(trim(chunk.speaker)) IN ['user', 'assistant', 'system', 'tool']
SET chunk.role = toLower(trim(chunk.speaker));
