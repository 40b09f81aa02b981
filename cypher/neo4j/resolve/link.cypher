// what: record merges
// parameters: space, links: [{uid, a, into, by, reason, score}], now
MATCH (facts:SpaceFacts {name: $space})
SET facts.merges = coalesce(facts.merges, 0) + size($links)
WITH facts.merges - size($links) AS first
UNWIND range(0, size($links) - 1) AS place
WITH $links[place] AS row, first + place AS seq
MATCH (a:Named {uid: row.a})
WITH row, seq, a, row.into AS other
MATCH (b:Named {uid: other})
CREATE (merge:Merge {uid: row.uid})
SET merge += row, merge.owner = $space, merge.seq = seq, merge.at = $now
CREATE (merge)-[:OF]->(a)
CREATE (merge)-[:INTO]->(b)
