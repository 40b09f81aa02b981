// what: create a space in a transaction of its own, so that inserts do not need the lock of its name
// returns: the token of the import that fills it, or an empty text
MERGE (space:Space {name: $space})
  ON CREATE SET space.inserts = 0, space.seq = 0, space.chunks = 0, space.length = 0,
                space.chunk_indexed = false
RETURN coalesce(space.importer, '')
