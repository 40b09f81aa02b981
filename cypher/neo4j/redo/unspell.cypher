// what: let triples, entities and aliases that nothing is said of be spelled as they are said next
// parameters: triples, entities, aliases (uids), spelled (sorts after every spelling)
// returns: nothing
CALL () {
  UNWIND $triples AS uid
  MATCH (triple:Fact {uid: uid})
  SET triple.spelled = $spelled
}
CALL () {
  UNWIND $entities AS uid
  MATCH (entity:Named {uid: uid})
  SET entity.spelled = $spelled
}
CALL () {
  UNWIND $aliases AS uid
  MATCH (alias:Alias {uid: uid})
  WHERE NOT EXISTS { (alias)-[:STATED_IN]->(:Chunk) }
  SET alias.spelled = $spelled
}
