// what: find the triples among some on which there is a ruling
UNWIND $uids AS uid
MATCH (ruling:StateRuling {uid: uid})
RETURN ruling.uid
