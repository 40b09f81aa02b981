// what: block inserts into all existing spaces until the transaction ends
MATCH (space:Space)
WHERE space.name > ''
WITH space ORDER BY space.name
SET space.inserts = space.inserts + 1
