// what: drop the vector index for one layer of one space
// parameters: name
// returns: nothing
DROP INDEX $name IF EXISTS
