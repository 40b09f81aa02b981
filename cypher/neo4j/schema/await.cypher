// what: wait until new indexes can be used
// parameters: seconds
// returns: nothing
CALL db.awaitIndexes($seconds)
