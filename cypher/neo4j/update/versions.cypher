// what: read the earlier texts of a message, oldest first
// parameters: message (uid of its first chunk)
// returns: text, replaced at in microseconds
MATCH (version:Version) USING INDEX version:Version(message, number)
WHERE version.message = $message AND version.number IS NOT NULL
RETURN version.text, micros(version.replaced_at)
ORDER BY version.number
