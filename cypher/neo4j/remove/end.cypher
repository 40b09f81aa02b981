// what: delete what is left of a space, also what users said of facts that were never read; if
//   messages were added meanwhile, count them again
// parameters: space
MATCH (space:Space {name: $space})
CALL (space) {
  MATCH (ruling:StateRuling) USING INDEX ruling:StateRuling(space)
  WHERE ruling.space = space.name
  WITH ruling, ruling.uid AS said
  OPTIONAL MATCH (fact:Fact {uid: said})
  WITH ruling, count(fact) AS facts
  WHERE facts = 0
  DETACH DELETE ruling
}
SET space.inserts = space.inserts + 1
WITH space
CALL (space) {
  MATCH (chunk:Chunk) USING INDEX chunk:Chunk(space, seq)
  WHERE chunk.space = space.name AND chunk.seq > 0
  RETURN count(chunk) AS chunks, sum(chunk.length) AS length
}
SET space.chunks = chunks, space.length = length, space.chunk_indexed = false,
    space.chunk_covered = null, space.chunk_tail = null
WITH space
WHERE space.chunks = 0
OPTIONAL MATCH (facts:SpaceFacts {name: space.name})
DELETE space, facts
