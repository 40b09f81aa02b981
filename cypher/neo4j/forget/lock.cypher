// what: lock a space's facts and its chunks before messages are forgotten; writers take turns
// returns: labels of the space's own triple index; no row if there is no such space
MATCH (space:Space {name: $space})
MERGE (facts:SpaceFacts {name: $space})
  ON CREATE SET facts.seq = 0, facts.triples = 0, facts.length = 0, facts.themes = 0,
                facts.triple_labels = [], facts.triple_indexed = false,
                facts.theme_labels = [], facts.theme_indexed = false
SET facts.seq = facts.seq + 1
WITH space, facts
SET space.inserts = space.inserts + 1
RETURN facts.triple_labels
