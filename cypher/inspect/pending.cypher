// what: chunks whose enrichment is pending or has failed, oldest first
// parameters: top: integer = 100
// returns: at, session, message_id, state, text
MATCH (c:Chunk)
WHERE c.state <> "done"
// as_of:   AND c.at <= $as_of
RETURN c.at AS at, c.session AS session, c.message_id AS message_id, c.state AS state,
       c.text AS text
ORDER BY at, session, message_id, text
LIMIT $top
