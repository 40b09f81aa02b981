// what: wait until new indexes are online
// parameters: seconds
// returns: nothing
CALL db.awaitIndexes($seconds)
