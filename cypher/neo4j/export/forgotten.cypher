// what: list the keys of the forgotten messages of a space
MATCH (gone:Forgotten) USING INDEX gone:Forgotten(space)
WHERE gone.space = $space
RETURN gone.uid ORDER BY gone.uid
