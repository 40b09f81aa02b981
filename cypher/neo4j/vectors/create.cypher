// what: create the vector index of one space's nodes of a layer, whose own label replaces OwnLabel
// parameters: name, options
// returns: nothing
CREATE VECTOR INDEX $name IF NOT EXISTS FOR (node:OwnLabel) ON node.embedding OPTIONS $options
