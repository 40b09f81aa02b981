// what: list the tokens and expiry times of all leases that were not released
// returns: token, until in microseconds
MATCH (session:Session) USING INDEX session:Session(lease_until)
WHERE session.lease_until IS NOT NULL AND session.lease IS NOT NULL
RETURN session.lease, micros(session.lease_until)
