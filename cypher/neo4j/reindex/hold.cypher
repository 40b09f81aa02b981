// what: block inserts into all existing spaces until the transaction ends
// parameters: none
// returns: nothing
MATCH (space:Space)
WHERE space.name > ''
WITH space ORDER BY space.name
SET space.inserts = space.inserts + 1
