// what: read the state of the indexes on cognigraph's labels
// parameters: labels (the labels, which are also prefixes of the labels of single spaces)
// returns: name, type, state, dimension (of a vector index)
SHOW INDEXES YIELD name, type, state, options, labelsOrTypes
WHERE any(label IN labelsOrTypes WHERE any(ours IN $labels WHERE label = ours OR label STARTS WITH ours + '_'))
RETURN name, type, state, options.indexConfig['vector.dimensions'] AS dimension
