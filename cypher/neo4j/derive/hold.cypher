// what: lock the leased session; until the transaction ends nobody else can take the lease
// parameters: session (uid), token
// returns: one row; none if the lease was lost
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
RETURN session.uid
