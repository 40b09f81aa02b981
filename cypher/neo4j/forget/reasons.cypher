// what: read the reasons that users gave for what they said of triples
// returns: uid of the triple, reason, the triple and the one that supersedes it in words
MATCH (ruling:StateRuling) USING INDEX ruling:StateRuling(space)
WHERE ruling.space = $space AND ruling.reason <> ''
WITH ruling, ruling.uid AS said, ruling.superseded_by AS instead
MATCH (triple:Fact {uid: said})
OPTIONAL MATCH (by:Fact {uid: instead})
RETURN ruling.uid, ruling.reason, triple.subject + ' ' + triple.relation + ' ' + triple.object
  + coalesce(' ' + by.subject + ' ' + by.relation + ' ' + by.object, '')
