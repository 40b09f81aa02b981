// what: keep the text of a message that is about to be replaced
// parameters: uid, space, message (uid of its first chunk), number, replaced_at, text, digest
CREATE (version:Version {uid: $uid})
SET version.space = $space, version.message = $message, version.number = $number,
    version.replaced_at = $replaced_at, version.text = $text, version.digest = $digest
