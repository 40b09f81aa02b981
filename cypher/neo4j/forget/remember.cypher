// what: note the keys of forgotten messages, so that they do not come back
// parameters: space, messages (uids of their first chunks)
UNWIND $messages AS uid
MERGE (gone:Forgotten {uid: uid})
  ON CREATE SET gone.space = $space
