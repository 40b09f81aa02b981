// what: find the triples among some on which there is a ruling
// parameters: uids
// returns: uid
UNWIND $uids AS uid
MATCH (ruling:StateRuling {uid: uid})
RETURN ruling.uid
