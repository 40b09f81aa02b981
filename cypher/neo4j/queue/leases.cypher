// what: list the tokens and expiry times of all leases that were not released
// parameters: none
// returns: token, until in microseconds
MATCH (session:Session) USING INDEX session:Session(lease_until)
WHERE session.lease_until IS NOT NULL AND session.lease IS NOT NULL
RETURN session.lease,
       session.lease_until.epochSeconds * 1000000 + session.lease_until.microsecond
