// what: delete the earlier texts of messages
// parameters: messages (uids of their first chunks)
UNWIND $messages AS uid
MATCH (version:Version) USING INDEX version:Version(message, number)
WHERE version.message = uid AND version.number IS NOT NULL
WITH collect(version) AS versions
FOREACH (version IN versions | DETACH DELETE version)
