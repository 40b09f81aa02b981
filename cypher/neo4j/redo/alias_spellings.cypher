// what: read how each chunk spells some aliases; only aliases whose current spelling comes from a
//   chunk of some moments
// parameters: aliases (uids), instants (what a spelling of these moments begins with)
// returns: uid, normalised name, name, [[moment in microseconds, spelling]]
UNWIND $aliases AS uid
MATCH (alias:Alias {uid: uid})
WHERE left(alias.spelled, 19) IN $instants
MATCH (alias)-[stated:STATED_IN]->(chunk:Chunk)
RETURN alias.uid, alias.normalised, alias.name,
  collect([micros(chunk.at), stated.spelled])
