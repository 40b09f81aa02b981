// what: the query pending, of what had been said by a time
// parameters: those of pending, as_of: time
MATCH (c:Chunk)
WHERE c.state <> "done" AND c.at <= $as_of
RETURN c.at AS at, c.session AS session, c.message_id AS message_id, c.state AS state,
       c.text AS text
ORDER BY at, session, message_id, text
LIMIT $top
