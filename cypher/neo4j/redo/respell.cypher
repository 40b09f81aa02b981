// what: give triples, entities and aliases the spelling of the chunks that still support them
// parameters: triples: [{uid, spelled, subject, relation, object}], entities and aliases:
//   [{uid, spelled, name}]
CALL () {
  UNWIND $triples AS row
  MATCH (triple:Fact {uid: row.uid})
  SET triple.spelled = row.spelled, triple.said_subject = row.subject,
      triple.relation = row.relation, triple.said_object = row.object
}
CALL () {
  UNWIND $entities AS row
  MATCH (entity:Named {uid: row.uid})
  SET entity.spelled = row.spelled, entity.name = row.name
}
CALL () {
  UNWIND $aliases AS row
  MATCH (alias:Alias {uid: row.uid})
  SET alias.spelled = row.spelled, alias.name = row.name
}
