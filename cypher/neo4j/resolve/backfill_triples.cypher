// what: prepare the next triples of a database written before entity resolution existed
MATCH (triple:Triple) USING INDEX triple:Triple(space, seq)
WHERE triple.space > '' AND triple.seq > 0 AND NOT triple:Fact
WITH triple LIMIT $limit
SET triple:Fact, triple.raw_subject = triple.subject_uid, triple.raw_object = triple.object_uid,
    triple.said_subject = triple.subject, triple.said_object = triple.object
RETURN count(triple)
