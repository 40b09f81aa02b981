// what: list the messages of a space that have earlier texts
// returns: uid of the first chunk
MATCH (version:Version) USING INDEX version:Version(space)
WHERE version.space = $space
RETURN DISTINCT version.message
