// what: read the records of a result: chunks, facts with their sources, and sessions
// parameters: space, chunks (uids), stating (uids of those whose facts are read), triples (uids),
//   sessions (uids), count (sources are only read of facts that have no more)
// returns: chunks as in chunks, each with whether an application stated facts with it; triples as
//   in triples_by_uid, but all that superseded them, each with the sources in stating [uid of the
//   chunk, time, who] and the number of all sources, which are only listed if those are not all;
//   sessions as in parts/session
// Each subquery imports its parameter, so that the planner runs one after the other.
WITH $chunks AS chunk_uids, $stating AS stating_uids, $triples AS triple_uids, $sessions AS session_uids
CALL (chunk_uids) {
  UNWIND chunk_uids AS uid
  MATCH (chunk:Chunk {uid: uid})
  WHERE chunk.space = $space
  RETURN collect([
    chunk.uid, chunk.message_id, chunk.session, chunk.session_uid, chunk.speaker,
    chunk.at.epochSeconds * 1000000 + chunk.at.microsecond, chunk.text, chunk.part, chunk.parts,
    chunk.role, chunk.heading, chunk.metadata, chunk.tags, chunk.facts IS NOT NULL]) AS chunks
}
CALL (stating_uids, triple_uids) {
  CALL (stating_uids, triple_uids) {
    UNWIND stating_uids AS uid
    MATCH (chunk:Chunk {uid: uid})<-[evidence:EVIDENCE]-(triple:Triple)
    WHERE chunk.space = $space
    RETURN triple,
           [chunk.uid,
            evidence.observed_at.epochSeconds * 1000000 + evidence.observed_at.microsecond,
            evidence.said_by] AS source
    UNION ALL
    UNWIND triple_uids AS uid
    MATCH (triple:Triple {uid: uid})
    WHERE triple.space = $space
    RETURN triple, null AS source
  }
  WITH triple, collect(source) AS stating, COUNT { (triple)-[:EVIDENCE]->() } AS all_sources
  MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
  WITH triple, stating, all_sources, subject, object,
       CASE WHEN all_sources <= $count AND all_sources > size(stating) THEN
         [(triple)-[evidence:EVIDENCE]->(chunk) |
          [evidence.observed_at.epochSeconds * 1000000 + evidence.observed_at.microsecond,
           chunk.message_id, chunk.session, evidence.said_by, chunk.facts IS NOT NULL]]
       END AS sources,
       CASE WHEN triple.status <> 'current' THEN
         [(by:Triple)-[:SUPERSEDES]->(triple) | by.uid]
       END AS superseded_by
  RETURN collect([
    triple.uid, triple.subject, subject.type, triple.relation, triple.object, object.type,
    triple.when, triple.negated,
    triple.first_observed.epochSeconds * 1000000 + triple.first_observed.microsecond,
    triple.last_observed.epochSeconds * 1000000 + triple.last_observed.microsecond, sources,
    coalesce(triple.status, 'current'),
    triple.valid_from.epochSeconds * 1000000 + triple.valid_from.microsecond,
    triple.valid_to.epochSeconds * 1000000 + triple.valid_to.microsecond, superseded_by,
    triple.superseded_at.epochSeconds * 1000000 + triple.superseded_at.microsecond,
    triple.reason, triple.earlier, stating, all_sources]) AS triples
}
CALL (session_uids) {
  UNWIND session_uids AS uid
  MATCH (session:Session {uid: uid})
  CALL (session) {
    OPTIONAL MATCH (session)-[has:HAS_KEY]->(key:Key)
    WITH has, key ORDER BY has.weight DESC, key.name
    RETURN collect(key.name) AS keys
  }
  CALL (session) {
    OPTIONAL MATCH (session)-[:HAS_THEME]->(theme:Theme)
    WITH theme ORDER BY theme.place
    RETURN collect(CASE WHEN theme IS NULL THEN null ELSE [theme.title, theme.summary, theme.uid] END) AS themes
  }
  RETURN collect([
    session.id, session.started_at.epochSeconds * 1000000 + session.started_at.microsecond,
    session.ended_at.epochSeconds * 1000000 + session.ended_at.microsecond,
    session.messages, session.chunks, session.version, keys, themes]) AS sessions
}
RETURN chunks, triples, sessions
