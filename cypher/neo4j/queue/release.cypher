// what: release a lease without counting an attempt
// parameters: session (uid), token
// returns: one row; none if the lease was lost
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
SET session.lease = null, session.lease_until = null
RETURN session.uid
