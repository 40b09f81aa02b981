// what: tokens of the leases that are held now
// parameters: now
// returns: token
MATCH (session:Session) USING INDEX session:Session(lease_until)
WHERE session.lease_until > $now AND session.lease IS NOT NULL
RETURN session.lease
