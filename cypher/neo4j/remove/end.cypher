// what: delete what is left of a space, unless something was added to it meanwhile
// parameters: space
// returns: nothing
MATCH (space:Space {name: $space})
SET space.inserts = space.inserts + 1
WITH space
WHERE NOT EXISTS {
  MATCH (session:Session) WHERE session.space = $space AND session.ended_at IS NOT NULL
}
OPTIONAL MATCH (facts:SpaceFacts {name: space.name})
DELETE space, facts
