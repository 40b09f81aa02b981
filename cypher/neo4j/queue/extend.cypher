// what: hold a lease longer
// parameters: session (uid), token, until
// returns: one row; none if the lease is lost
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
SET session.lease_until = $until
RETURN session.uid
