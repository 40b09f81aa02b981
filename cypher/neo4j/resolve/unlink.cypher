// what: record that merges have ended
// parameters: links: [{a, into, by}], now
UNWIND $links AS row
MATCH (entity:Named {uid: row.a})<-[:OF]-(merge:Merge)
WHERE merge.into = row.into AND merge.by = row.by AND merge.undone_at IS NULL
SET merge.undone_at = $now
