// what: name the spaces that the audit log has entries of, also deleted ones
MATCH (entry:Audit) USING INDEX entry:Audit(owner, at)
WHERE entry.owner > "" AND entry.at IS NOT NULL
RETURN DISTINCT entry.owner
