// what: read sessions by uid
// returns: as parts/session
UNWIND $uids AS uid
MATCH (session:Session {uid: uid})
// part: session
