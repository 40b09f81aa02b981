// what: let the next occurrence determine the spelling of triples, entities and aliases that have
//   no evidence left
// parameters: triples, entities, aliases (uids), spelled (sorts after every spelling)
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
