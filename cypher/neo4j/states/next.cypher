// what: list the next triples of a space, to decide them again
MATCH (triple:Triple) USING INDEX triple:Triple(space, seq)
WHERE triple.space = $space AND triple.seq > $after
RETURN triple.uid, triple.seq ORDER BY triple.seq LIMIT $limit
