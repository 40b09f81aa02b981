// what: read sessions by uid
// parameters: uids
// returns: as parts/session
UNWIND $uids AS uid
MATCH (session:Session {uid: uid})
// part: session
