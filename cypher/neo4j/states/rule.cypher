// what: record what a user said of a triple; later words take the place of earlier ones
// parameters: space, uid, kind, superseded_by, at, reason, recorded (microseconds since 1970)
// returns: uid of the canonical triple; no row if there is no such triple
MATCH (facts:SpaceFacts {name: $space})
SET facts.rulings = coalesce(facts.rulings, 0) + 1,
    facts.ruled_at = CASE WHEN coalesce(facts.ruled_at, 0) < $recorded THEN $recorded
                          ELSE facts.ruled_at + 1 END
WITH facts
MATCH (read:Fact {uid: $uid})
WHERE read.space = $space
OPTIONAL MATCH (read)-[:SAME_AS]->(other:Fact)
MERGE (ruling:StateRuling {uid: $uid})
SET ruling.space = $space, ruling.kind = $kind, ruling.superseded_by = $superseded_by,
    ruling.at = $at, ruling.reason = $reason, ruling.recorded = facts.ruled_at
RETURN coalesce(other.uid, read.uid)
