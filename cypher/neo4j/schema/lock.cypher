// what: let one process at a time apply migrations: the lock is held until the transaction ends
// parameters: none
// returns: schema_version, 0 in a database that is not ours yet
MERGE (meta:CogniGraph {uid: 'cognigraph'})
  ON CREATE SET meta.opened = 0
SET meta.opened = meta.opened + 1
WITH meta
RETURN coalesce(meta.schema_version, 0)
