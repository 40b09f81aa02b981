// what: the keys of a session by descending weight
// parameters: session: string
// returns: key, weight
MATCH (s:Session {id: $session})-[has:HAS_KEY]->(k:Key)
// as_of: WHERE s.ended_at <= $as_of
RETURN k.name AS key, has.weight AS weight
ORDER BY weight DESC, key
