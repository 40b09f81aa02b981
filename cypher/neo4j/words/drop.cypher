// what: delete what is kept of the words of a space, which is locked: its chunks change
// parameters: uid
// returns: nothing
MATCH (kept:CogniGraph {uid: $uid})
DELETE kept
