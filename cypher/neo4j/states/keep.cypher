// what: record what users said before of triples, of which some may not have been read yet
// parameters: space, rows: [{uid, kind, superseded_by, at, reason, recorded}]
// returns: uids of the canonical triples that exist
MATCH (facts:SpaceFacts {name: $space})
SET facts.rulings = coalesce(facts.rulings, 0) + 1,
    facts.ruled_at = reduce(last = coalesce(facts.ruled_at, 0), row IN $rows |
                            CASE WHEN row.recorded > last THEN row.recorded ELSE last END)
WITH facts
UNWIND $rows AS row
MERGE (ruling:StateRuling {uid: row.uid})
SET ruling.space = $space, ruling.kind = row.kind, ruling.superseded_by = row.superseded_by,
    ruling.at = row.at, ruling.reason = row.reason, ruling.recorded = row.recorded
WITH row.uid AS uid
MATCH (read:Fact {uid: uid})
OPTIONAL MATCH (read)-[:SAME_AS]->(other:Fact)
RETURN coalesce(other.uid, read.uid)
