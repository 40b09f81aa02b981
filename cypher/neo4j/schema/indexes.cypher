// what: state of the indexes on our labels
// parameters: labels: prefixes of labels
// returns: name, type, state, dimension (of a vector index)
SHOW INDEXES YIELD name, type, state, options, labelsOrTypes
WHERE any(label IN labelsOrTypes WHERE any(ours IN $labels WHERE label = ours OR label STARTS WITH ours + '_'))
RETURN name, type, state, options.indexConfig['vector.dimensions'] AS dimension
