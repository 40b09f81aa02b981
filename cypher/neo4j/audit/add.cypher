// what: add an entry to the audit log; it has no property space, so that no query of a user sees it
// parameters: uid, at (microseconds), space, action, by (or null), subjects (JSON), details (JSON)
CREATE (entry:Audit {uid: $uid})
SET entry.at = $at, entry.owner = $space, entry.action = $action, entry.by = $by,
    entry.subjects = $subjects, entry.details = $details
