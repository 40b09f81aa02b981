// what: note that an import fills a space, unless it holds messages that no import has left
// parameters: space, importer (token)
// returns: whether an earlier import has left messages, which are to be removed first; no row if the
//   space holds others
MATCH (space:Space {name: $space})
SET space.inserts = space.inserts + 1
WITH space, space.importer IS NOT NULL AND space.chunks > 0 AS left
WHERE left OR space.chunks = 0
SET space.importer = CASE WHEN left THEN 'removed' ELSE $importer END
RETURN left
