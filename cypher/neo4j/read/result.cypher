// what: read the records of a result: chunks, facts with their newest sources, and sessions
// parameters: space, chunks (uids), stating (uids of chunks whose facts are read), triples (uids),
//   sessions (uids), count (of newest sources), within (uids of chunks whose sources are read too),
//   until (or null)
// returns: chunks as in chunks, triples as in triples_with_newest_sources, each with the uids of the
//   chunks that state it and whether it has more sources than count, sessions as in sessions_by_uid
CALL {
  UNWIND $chunks AS uid
  MATCH (chunk:Chunk {uid: uid})
  WHERE chunk.space = $space
  RETURN collect([
    chunk.uid, chunk.message_id, chunk.session, chunk.session_uid, chunk.speaker,
    chunk.at.epochSeconds * 1000000 + chunk.at.microsecond, chunk.text, chunk.part, chunk.parts,
    chunk.role, chunk.heading, chunk.metadata, chunk.tags]) AS chunks
}
CALL {
  CALL {
    UNWIND $stating AS uid
    MATCH (chunk:Chunk {uid: uid})<-[:EVIDENCE]-(triple:Triple)
    WHERE chunk.space = $space
    RETURN triple, chunk.uid AS stating
    UNION ALL
    UNWIND $triples AS uid
    MATCH (triple:Triple {uid: uid})
    WHERE triple.space = $space
    RETURN triple, null AS stating
  }
  WITH triple, collect(DISTINCT stating) AS stating
  MATCH (subject:Entity)<-[:SUBJECT]-(triple)-[:OBJECT]->(object:Entity)
  CALL (triple) {
    MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
    WHERE $until IS NULL OR evidence.observed_at <= $until
    WITH evidence, chunk ORDER BY evidence.observed_at DESC
    WITH collect({evidence: evidence, chunk: chunk}) AS found
    WITH found,
         found[..$count] + [one IN found[$count..] WHERE one.chunk.uid IN $within] AS chosen
    RETURN size(found) - size(chosen) AS older, size(found) > $count AS often,
           [one IN chosen |
            [one.evidence.observed_at.epochSeconds * 1000000 + one.evidence.observed_at.microsecond,
             one.chunk.message_id, one.chunk.session, one.evidence.said_by,
             one.chunk.facts IS NOT NULL]] AS sources
  }
  CALL (triple) {
    OPTIONAL MATCH (by:Triple)-[:SUPERSEDES]->(triple)
    RETURN min(by.uid) AS superseded_by
  }
  RETURN collect([
    triple.uid, triple.subject, subject.type, triple.relation, triple.object, object.type,
    triple.when, triple.negated,
    triple.first_observed.epochSeconds * 1000000 + triple.first_observed.microsecond,
    triple.last_observed.epochSeconds * 1000000 + triple.last_observed.microsecond, sources,
    coalesce(triple.status, 'current'),
    triple.valid_from.epochSeconds * 1000000 + triple.valid_from.microsecond,
    triple.valid_to.epochSeconds * 1000000 + triple.valid_to.microsecond, superseded_by,
    triple.superseded_at.epochSeconds * 1000000 + triple.superseded_at.microsecond,
    triple.reason, triple.earlier, older, stating, often]) AS triples
}
CALL {
  UNWIND $sessions AS uid
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
