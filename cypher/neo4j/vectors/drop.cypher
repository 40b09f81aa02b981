// what: drop the vector index of one space's nodes of a layer
// parameters: name
// returns: nothing
DROP INDEX $name IF EXISTS
