// what: create the vector index for one layer of one space; the space's own label replaces OwnLabel
CREATE VECTOR INDEX $name IF NOT EXISTS FOR (node:OwnLabel) ON node.embedding OPTIONS $options
