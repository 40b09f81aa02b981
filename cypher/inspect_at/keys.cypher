// what: the query keys, for a session that was over by a time
// parameters: those of keys, as_of: time
MATCH (s:Session {id: $session})-[has:HAS_KEY]->(k:Key)
WHERE s.ended_at <= $as_of
RETURN k.name AS key, has.weight AS weight
ORDER BY weight DESC, key
