// what: extend a lease, or release it without counting an attempt
// parameters: session (uid), token, until (null to release it)
// returns: one row; none if the lease was lost
MATCH (session:Session {uid: $session})
SET session.claims = session.claims + 1
WITH session
WHERE session.lease = $token
SET session.lease_until = $until,
    session.lease = CASE WHEN $until IS NULL THEN null ELSE $token END
RETURN session.uid
