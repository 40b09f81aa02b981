// what: name the spaces that the audit log has entries of, also deleted ones
// parameters: none
// returns: the name of a space
MATCH (entry:Audit)
RETURN DISTINCT entry.owner
