// what: read the audit log, newest first (the index of a space replaces that of all)
// returns: at in microseconds, space, action, by, subjects (JSON), details (JSON)
MATCH (entry:Audit) USING INDEX entry:Audit(at)
WHERE entry.at IS NOT NULL
RETURN entry.at, entry.owner, entry.action, entry.by, entry.subjects, entry.details
ORDER BY entry.at DESC, entry.uid DESC SKIP $skip LIMIT $limit
