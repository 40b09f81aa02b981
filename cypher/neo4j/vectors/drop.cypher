// what: drop the vector index for one layer of one space
DROP INDEX $name IF EXISTS
