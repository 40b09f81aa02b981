// what: write new messages under the lock of their space, and append them to their sessions' chains
// parameters: space, alone (whether to write nothing if a session has later chunks), importer (token
//   of the import that fills the space, or an empty text),
//   generation (of the embedder), firsts (uid of each message's first chunk),
//   chunks and length (totals),
//   sessions: [{uid, id, started_at, ended_at, messages, last,
//   chunks: [{properties, at, place, vector, ranking (packed)}]}] sorted by uid, with the chunks of
//   each session in the order of (at, place); times are [seconds since 1970, nanoseconds]
// returns: base (arrival numbers are base + place), late (uids of sessions with chunks older than
//   the end of their chain, which remain to be linked), chunks in the space, indexed, chunks not
//   yet in the space's own vector index, arrival numbers after which and up to which these arrived;
//   no row, and nothing is written, if the space does not exist yet, if one of the messages exists
//   already or was forgotten, if an import of another token fills the space, if the embedder changed,
//   or if a message that is added alone is older than the end of its session
// MATCH reads without a lock. MERGE would hold the index entry of the name in shared mode, and two
// writers that both hold it deadlock as soon as one of them needs the node. See space.cypher.
MATCH (space:Space {name: $space})
// This write takes the lock: the statement then sees all earlier inserts into the space, and no
// other insert runs at the same time.
SET space.inserts = space.inserts + 1
WITH space
WHERE coalesce(space.importer, '') = $importer
MATCH (meta:CogniGraph {uid: 'cognigraph'})
WHERE coalesce(meta.generation, 1) = $generation
OPTIONAL MATCH (known:Chunk) WHERE known.uid IN $firsts
WITH space, count(known) AS known
OPTIONAL MATCH (gone:Forgotten) WHERE gone.uid IN $firsts
WITH space, known, count(gone) AS gone
WHERE known = 0 AND gone = 0
OPTIONAL MATCH (longer:Session {uid: $sessions[0].uid})
WHERE $alone AND longer.tail IS NOT NULL AND longer.ended_at > datetime(
  {epochSeconds: $sessions[0].started_at[0], nanosecond: $sessions[0].started_at[1]})
WITH space, count(longer) AS longer
WHERE longer = 0
// Arrival numbers increase by one but never fall behind the clock (microseconds), so that the queue
// can compare arrivals in different spaces.
WITH space, CASE WHEN space.seq < timestamp() * 1000 THEN timestamp() * 1000 ELSE space.seq END AS base
SET space.chunk_covered =
      coalesce(space.chunk_covered, CASE WHEN space.chunk_indexed THEN space.seq ELSE 0 END),
    space.chunk_tail = coalesce(space.chunk_tail, 0) + $chunks,
    space.seq = base + $chunks,
    space.chunks = space.chunks + $chunks,
    space.length = space.length + $length
WITH space, base
UNWIND $sessions AS row
WITH space, base, row,
     datetime({epochSeconds: row.started_at[0], nanosecond: row.started_at[1]}) AS started_at,
     datetime({epochSeconds: row.ended_at[0], nanosecond: row.ended_at[1]}) AS ended_at
MERGE (session:Session {uid: row.uid})
  ON CREATE SET session.space = $space, session.id = row.id, session.seq = base + row.chunks[0].place,
                session.started_at = started_at, session.ended_at = ended_at,
                session.messages = 0, session.chunks = 0, session.version = 0, session.claims = 0
SET session.messages = session.messages + row.messages,
    session.chunks = session.chunks + size(row.chunks)
WITH space, base, row, started_at, ended_at, session, session.tail AS tail,
     session.tail IS NULL OR started_at >= session.ended_at AS in_order
SET session.tail = CASE WHEN tail IS NULL OR ended_at >= session.ended_at THEN row.last ELSE tail END,
    session.started_at =
      CASE WHEN started_at < session.started_at THEN started_at ELSE session.started_at END,
    session.ended_at =
      CASE WHEN ended_at > session.ended_at THEN ended_at ELSE session.ended_at END
WITH space, base, row, session, tail, in_order
CALL (space, base, row, session) {
  UNWIND row.chunks AS new
  WITH session, new, new.properties AS properties, base + new.place AS seq,
       datetime({epochSeconds: new.at[0], nanosecond: new.at[1]}) AS at
  CREATE (chunk:Chunk)
  // All at once, so that constraints and indexes are looked at once.
  SET chunk += properties{.*, seq: seq, at: at}
  CREATE (session)-[:HAS_CHUNK]->(chunk)
  WITH chunk, new
  CALL (chunk, new) {
    WITH chunk, new WHERE new.vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(chunk, 'embedding', new.vector)
  }
  // Written last, it is found first: the server goes through a node's properties from the newest on.
  SET chunk.packed = new.ranking
  RETURN collect(chunk) AS chunks
}
CALL (chunks, in_order) {
  UNWIND CASE WHEN in_order THEN range(1, size(chunks) - 1) ELSE [] END AS place
  WITH chunks[place - 1] AS before, chunks[place] AS after
  CREATE (before)-[:NEXT]->(after)
}
CALL (chunks, tail, in_order) {
  WITH chunks[0] AS first, tail, in_order
  MATCH (before:Chunk {uid: tail})
  WHERE in_order
  CREATE (before)-[:NEXT]->(first)
}
RETURN base, collect(CASE WHEN in_order THEN null ELSE row.uid END) AS late,
       space.chunks AS chunks, space.chunk_indexed AS indexed, space.chunk_tail AS tail,
       space.chunk_covered AS covered, space.seq AS seq
