// what: extend a lease
// parameters: session (uid), token, until
// returns: one row; none if the lease was lost
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
SET session.lease_until = $until
RETURN session.uid
