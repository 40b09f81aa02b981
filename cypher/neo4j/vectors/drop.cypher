// what: drop the vector index for one layer of one space
// parameters: name
DROP INDEX $name IF EXISTS
