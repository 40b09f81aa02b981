// what: take the lock of the leased session; from here on nobody can take the lease away
// parameters: session (uid), token
// returns: one row; none if the lease is lost
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
RETURN session.uid
