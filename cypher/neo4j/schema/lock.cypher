// what: lock the database so that one process at a time applies migrations
// returns: schema_version, 0 in a database that cognigraph has not used yet
MERGE (meta:CogniGraph {uid: 'cognigraph'})
  ON CREATE SET meta.opened = 0
SET meta.opened = meta.opened + 1
WITH meta
RETURN coalesce(meta.schema_version, 0)
