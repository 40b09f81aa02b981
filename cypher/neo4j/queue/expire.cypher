// what: end the lease of a worker that is known to be dead
// parameters: now, token
// returns: nothing
MATCH (session:Session) USING INDEX session:Session(lease_until)
WHERE session.lease_until > $now AND session.lease = $token
SET session.lease_until = $now
