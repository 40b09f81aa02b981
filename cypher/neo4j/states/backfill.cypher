// what: prepare the next triples of a database written before there were slots
MATCH (triple:Triple) USING INDEX triple:Triple(space, seq)
WHERE triple.space > '' AND triple.seq > 0 AND triple.status IS NULL
WITH triple LIMIT $limit
SET triple.status = 'current'
RETURN triple.space, collect(triple.uid)
