// what: list the revisions of a session's keys and summary, newest first
// parameters: session (uid)
// returns: version, at in microseconds, extractor, keys, titles, summaries
MATCH (revision:Revision) USING INDEX revision:Revision(session_uid, version)
WHERE revision.session_uid = $session AND revision.version IS NOT NULL
RETURN revision.version, micros(revision.at), revision.extractor, revision.keys, revision.titles,
       revision.summaries
ORDER BY revision.version DESC
