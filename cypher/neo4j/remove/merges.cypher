// what: delete the history of merges of a space
MATCH (merge:Merge) USING INDEX merge:Merge(owner, seq)
WHERE merge.owner = $space AND merge.seq IS NOT NULL
WITH merge LIMIT $limit
WITH collect(merge) AS merges
FOREACH (merge IN merges | DETACH DELETE merge)
RETURN size(merges)
