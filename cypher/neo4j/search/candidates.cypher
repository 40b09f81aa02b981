// what: find the candidates of a search by vectors, words and names, and read what ranking needs of
//   them: of facts with their evidence, of chunks with their neighbours, and of their sessions
// parameters: space, vector, until (or null), where (see stores/neo4j/tokens.py), having (full text,
//   replaces the index where chunks with some marks are compared), texts (true or false), entities
//   (vectors of names), chunk, triple and theme: {index (null: none), fetch, after (arrival number
//   after which nodes are compared one by one, null: none), limit, nearest (null, or [similarity,
//   uid] of nodes that the store has compared)}, chunk_words and triple_words:
//   {query (full text, null: none), fetch, most (to fetch if too many tie), is_last (no more will be
//   fetched), limit, constant and slope (by length) of what scores are divided by}, seeds (uids of chunks that were found
//   otherwise), anchors (hashes), names (stemmed), limit (triples of an anchor), most (an entity
//   with more triples is a hub, and gets those among the nearest), unpacked (names of properties)
// returns: of chunks, and of triples: [nodes fetched by vector, lowest similarity, nodes that pass,
//   nodes fetched by words, nodes found by words];
//   columns of triples: packed (see stores/neo4j/index/packed.py), evidence (element ids of chunks),
//   texts ('' unless requested), sources (1 by vector, 2 by words, 4 by anchor); names of anchors;
//   columns of chunks: packed, element ids, texts, of links: element ids of the chunks and of those
//   after them; element ids of chunks by vector, and by words; sessions: [uid, id, themes (packed),
//   number of keys, best similarity of a key with each entity (empty without keys)]
// Each subquery imports what it needs, so that the planner runs one after the other. The store leaves
// out what is marked as filter if only roles are a condition, what is marked as keys without entities,
// and the sources of chunks or triples, up to the line that begins with "or", which takes their place.
// It replaces the radius 2, and the 3, which is one more: the links of the outermost neighbours.
WITH $chunk AS chunk_source, $chunk_words AS chunk_words, $triple AS triple_source,
     $triple_words AS triple_words, $theme AS theme_source, $anchors AS anchors,
     [null, null, 0, 0, 0] AS none
// chunks
CALL (chunk_source) {
  WITH chunk_source.index AS index WHERE index IS NOT NULL
  CALL db.index.vector.queryNodes(index, $chunk.fetch, $vector) YIELD node, score
  RETURN count(*) AS chunk_fetched, min(score) AS chunk_lowest,
         collect(CASE WHEN score > 0.5 AND coalesce(node.role, 'person') IN $where.roles
    // filter
    AND ($until IS NULL OR node.at <= $until)
    AND ($where.sessions IS NULL OR node.session IN $where.sessions)
    AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
    AND ($where.since IS NULL OR node.at >= $where.since)
    AND ($where.until IS NULL OR node.at <= $where.until)
    AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
    AND ($where.without_messages IS NULL
      OR NOT [node.session, node.message_id] IN $where.without_messages)
    AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, []))
    // end of filter
           THEN [score, node] END) AS chunk_indexed
}
CALL (chunk_source) {
  WITH chunk_source.after AS after WHERE after IS NOT NULL
  MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
  WHERE node.space = $space AND node.seq > after AND coalesce(node.role, 'person') IN $where.roles
    // filter
    AND ($until IS NULL OR node.at <= $until)
    AND ($where.sessions IS NULL OR node.session IN $where.sessions)
    AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
    AND ($where.since IS NULL OR node.at >= $where.since)
    AND ($where.until IS NULL OR node.at <= $where.until)
    AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
    AND ($where.without_messages IS NULL
      OR NOT [node.session, node.message_id] IN $where.without_messages)
    AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, []))
    // end of filter
  WITH node, vector.similarity.cosine(node.embedding, $vector) AS score
  WHERE score > 0.5
  WITH node, score ORDER BY score DESC, node.seq LIMIT toInteger($chunk.limit)
  RETURN collect([score, node]) AS chunk_compared
}
CALL (chunk_source) {
  UNWIND chunk_source.nearest AS pair
  MATCH (node:Chunk {uid: pair[1]})
  RETURN collect([pair[0], node]) AS chunk_given
}
CALL (chunk_indexed, chunk_compared, chunk_given) {
  UNWIND chunk_indexed + chunk_compared + chunk_given AS pair
  WITH pair[1] AS node, max(pair[0]) AS score ORDER BY score DESC
  RETURN collect(node) AS chunk_nearest
}
CALL (chunk_words) {
  WITH chunk_words.query AS query WHERE query IS NOT NULL
  // The index follows the commits; wait until it has those before this statement.
  CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()
  CALL db.index.fulltext.queryNodes('chunk_lexemes', query, {limit: $chunk_words.fetch})
    YIELD node, score
  WITH collect([score, node]) AS scored
  // Which texts of the lowest score were fetched depends on the segments of the index, and so on
  // other spaces: leave out all of that score if there may be more of them.
  RETURN scored AS chunk_first,
         CASE WHEN size(scored) = $chunk_words.fetch AND NOT $chunk_words.is_last
         THEN scored[-1][0] * 1.00001 ELSE 0.0 END AS chunk_least
}
CALL (chunk_words, chunk_first, chunk_least) {
  // If then too few are left, because many texts have the same words, look at more.
  WITH chunk_words.query AS query
  WHERE chunk_least > 0.0
    AND size([pair IN chunk_first WHERE pair[0] > chunk_least]) < $chunk_words.limit
  CALL db.index.fulltext.queryNodes('chunk_lexemes', query, {limit: $chunk_words.most})
    YIELD node, score
  RETURN collect([score, node]) AS chunk_more
}
WITH *, CASE size(chunk_more) WHEN 0 THEN chunk_first ELSE chunk_more END AS chunk_scored,
     CASE size(chunk_more) WHEN 0 THEN chunk_least ELSE 0.0 END AS chunk_worse
CALL (chunk_scored, chunk_worse) {
  UNWIND chunk_scored AS pair
  WITH pair[1] AS node, pair[0] AS score WHERE pair[0] > chunk_worse
  WITH node, score / ($chunk_words.constant + $chunk_words.slope * node.length) AS score
  ORDER BY score DESC, node.seq DESC
  // After the order, so that only as many are read as it takes.
  WITH node WHERE coalesce(node.role, 'person') IN $where.roles
    // filter
    AND ($until IS NULL OR node.at <= $until)
    AND ($where.sessions IS NULL OR node.session IN $where.sessions)
    AND ($where.speakers IS NULL OR coalesce(node.speaker, '') IN $where.speakers)
    AND ($where.since IS NULL OR node.at >= $where.since)
    AND ($where.until IS NULL OR node.at <= $where.until)
    AND ($where.without_ids IS NULL OR NOT node.message_id IN $where.without_ids)
    AND ($where.without_messages IS NULL
      OR NOT [node.session, node.message_id] IN $where.without_messages)
    AND all(mark IN $where.marks WHERE mark IN coalesce(node.marks, []))
    // end of filter
  WITH node LIMIT toInteger($chunk_words.limit)
  RETURN collect(node) AS chunk_by_words
}
WITH *, [chunk_fetched, chunk_lowest, size(chunk_nearest), size(chunk_scored), size(chunk_by_words)]
          AS chunk_counts,
     chunk_nearest[..toInteger($chunk.limit)] AS chunks_by_vector, chunk_by_words AS chunks_by_words
// or WITH *, none AS chunk_counts, [] AS chunks_by_vector, [] AS chunks_by_words
// triples
CALL (triple_source) {
  WITH triple_source.index AS index WHERE index IS NOT NULL
  CALL db.index.vector.queryNodes(index, $triple.fetch, $vector) YIELD node, score
  RETURN count(*) AS triple_fetched, min(score) AS triple_lowest,
         collect(CASE WHEN score > 0.5 AND ($until IS NULL OR node.first_observed <= $until)
           THEN [score, node] END) AS triple_indexed
}
CALL (triple_source) {
  WITH triple_source.after AS after WHERE after IS NOT NULL
  MATCH (node:Triple) USING INDEX node:Triple(space, seq)
  WHERE node.space = $space AND node.seq > after AND ($until IS NULL OR node.first_observed <= $until)
  WITH node, vector.similarity.cosine(node.embedding, $vector) AS score
  WHERE score > 0.5
  WITH node, score ORDER BY score DESC, node.seq LIMIT toInteger($triple.limit)
  RETURN collect([score, node]) AS triple_compared
}
CALL (triple_source) {
  UNWIND triple_source.nearest AS pair
  MATCH (node:Triple {uid: pair[1]})
  RETURN collect([pair[0], node]) AS triple_given
}
CALL (triple_indexed, triple_compared, triple_given) {
  UNWIND triple_indexed + triple_compared + triple_given AS pair
  WITH pair[1] AS node, max(pair[0]) AS score ORDER BY score DESC
  RETURN collect(node) AS triple_nearest
}
CALL (triple_words) {
  WITH triple_words.query AS query WHERE query IS NOT NULL
  // The index follows the commits; wait until it has those before this statement.
  CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()
  CALL db.index.fulltext.queryNodes('triple_lexemes', query, {limit: $triple_words.fetch})
    YIELD node, score
  WITH collect([score, node]) AS scored
  // Which texts of the lowest score were fetched depends on the segments of the index, and so on
  // other spaces: leave out all of that score if there may be more of them.
  RETURN scored AS triple_first,
         CASE WHEN size(scored) = $triple_words.fetch AND NOT $triple_words.is_last
         THEN scored[-1][0] * 1.00001 ELSE 0.0 END AS triple_least
}
CALL (triple_words, triple_first, triple_least) {
  // If then too few are left, because many texts have the same words, look at more.
  WITH triple_words.query AS query
  WHERE triple_least > 0.0
    AND size([pair IN triple_first WHERE pair[0] > triple_least]) < $triple_words.limit
  CALL db.index.fulltext.queryNodes('triple_lexemes', query, {limit: $triple_words.most})
    YIELD node, score
  RETURN collect([score, node]) AS triple_more
}
WITH *, CASE size(triple_more) WHEN 0 THEN triple_first ELSE triple_more END AS triple_scored,
     CASE size(triple_more) WHEN 0 THEN triple_least ELSE 0.0 END AS triple_worse
CALL (triple_scored, triple_worse) {
  UNWIND triple_scored AS pair
  WITH pair[1] AS node, pair[0] AS score WHERE pair[0] > triple_worse
  WITH node, score / ($triple_words.constant + $triple_words.slope * node.length) AS score
  ORDER BY score DESC, node.seq DESC
  // After the order, so that only as many are read as it takes.
  WITH node WHERE ($until IS NULL OR node.first_observed <= $until)
  WITH node LIMIT toInteger($triple_words.limit)
  RETURN collect(node) AS triple_by_words
}
CALL (theme_source) {
  WITH theme_source.index AS index WHERE index IS NOT NULL
  CALL db.index.vector.queryNodes(index, $theme.fetch, $vector) YIELD node, score
  RETURN count(*) AS theme_fetched, min(score) AS theme_lowest,
         collect(CASE WHEN score > 0.5
           THEN [score, node] END) AS theme_indexed
}
CALL (theme_source) {
  WITH theme_source.after AS after WHERE after IS NOT NULL
  MATCH (node:Theme) USING INDEX node:Theme(space, seq)
  WHERE node.space = $space AND node.seq > after
  WITH node, vector.similarity.cosine(node.embedding, $vector) AS score
  WHERE score > 0.5
  WITH node, score ORDER BY score DESC, node.seq LIMIT toInteger($theme.limit)
  RETURN collect([score, node]) AS theme_compared
}
CALL (theme_source) {
  UNWIND theme_source.nearest AS pair
  MATCH (node:Theme {uid: pair[1]})
  RETURN collect([pair[0], node]) AS theme_given
}
CALL (theme_indexed, theme_compared, theme_given) {
  UNWIND theme_indexed + theme_compared + theme_given AS pair
  WITH pair[1] AS node, max(pair[0]) AS score ORDER BY score DESC
  RETURN collect(node) AS theme_nearest
}
CALL (anchors, triple_nearest) {
  UNWIND anchors AS anchor
  CALL (anchor) {
    MATCH (entity:Entity {anchor: anchor})
    WHERE entity.space = $space AND entity.key IN $names
    RETURN entity
    UNION
    MATCH (alias:Alias {anchor: anchor})-[:SAME_AS]->(entity:Entity)
    WHERE alias.space = $space AND alias.key IN $names
    RETURN entity
  }
  WITH DISTINCT entity, triple_nearest
  WITH entity, triple_nearest,
       COUNT { (entity)<-[:SUBJECT]-() } + COUNT { (entity)<-[:OBJECT]-() } > $most AS hub
  CALL (entity, hub) {
    WITH entity, hub WHERE NOT hub
    MATCH (entity)<-[:SUBJECT|OBJECT]-(node:Triple)
    WHERE ($until IS NULL OR node.first_observed <= $until)
    WITH DISTINCT node
    WITH node, coalesce(vector.similarity.cosine(node.embedding, $vector), 0.5) AS score
    ORDER BY score DESC, node.last_observed DESC, node.uid LIMIT toInteger($limit)
    RETURN collect(node) AS own
  }
  WITH entity, CASE WHEN hub THEN
    [node IN triple_nearest WHERE entity.uid IN [node.subject_uid, node.object_uid]][..$limit]
    ELSE own END AS own
  WHERE size(own) > 0
  WITH entity, own ORDER BY entity.uid
  RETURN collect(entity.name) AS anchored, collect(own) AS triples_by_anchor
}
WITH *, [triple_fetched, triple_lowest, size(triple_nearest), size(triple_scored),
         size(triple_by_words)] AS triple_counts,
     theme_nearest[..toInteger($theme.limit)] AS themes_by_vector,
     triple_nearest[..toInteger($triple.limit)] AS triples_by_vector,
     reduce(all = [], own IN triples_by_anchor | all + own) AS triples_by_anchor
CALL (triples_by_vector, triple_by_words, triples_by_anchor) {
  UNWIND triples_by_vector + triple_by_words + triples_by_anchor AS triple
  WITH DISTINCT triple, triples_by_vector, triple_by_words, triples_by_anchor
  CALL (triple) {
    MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
    WHERE coalesce(chunk.role, 'person') IN $where.roles
      // filter
      AND ($until IS NULL OR evidence.observed_at <= $until)
      AND ($where.sessions IS NULL OR chunk.session IN $where.sessions)
      AND ($where.speakers IS NULL OR coalesce(chunk.speaker, '') IN $where.speakers)
      AND ($where.since IS NULL OR chunk.at >= $where.since)
      AND ($where.until IS NULL OR chunk.at <= $where.until)
      AND all(mark IN $where.marks WHERE mark IN coalesce(chunk.marks, []))
      // end of filter
    RETURN collect(DISTINCT chunk) AS evidence
  }
  WITH triple, evidence,
       CASE WHEN triple IN triples_by_vector THEN 1 ELSE 0 END +
       CASE WHEN triple IN triple_by_words THEN 2 ELSE 0 END +
       CASE WHEN triple IN triples_by_anchor THEN 4 ELSE 0 END AS sources
  WHERE size(evidence) > 0
  RETURN [
    collect(coalesce(triple.packed, [name IN $unpacked | triple[name]])),
    collect([chunk IN evidence | elementId(chunk)]),
    collect(CASE WHEN $texts
            THEN triple.subject + ' ' + triple.relation + ' ' + triple.object ELSE '' END),
    collect(sources)] AS triples,
    collect(evidence) AS all_evidence
}
// or WITH *, none AS triple_counts, [[], [], [], []] AS triples, [] AS anchored, [] AS all_evidence, [] AS themes_by_vector
CALL (chunks_by_vector, chunks_by_words, all_evidence) {
  CALL (chunks_by_vector, chunks_by_words, all_evidence) {
    UNWIND $seeds AS uid
    MATCH (seed:Chunk {uid: uid})
    RETURN seed
    UNION
    UNWIND all_evidence + [chunks_by_vector, chunks_by_words] AS some
    UNWIND some AS seed
    RETURN seed
  }
  RETURN collect(seed) AS seeds
}
CALL (seeds) {
  UNWIND seeds AS seed
  MATCH (seed)-[links:NEXT*1..3]-()
  WITH last(links) AS link, min(size(links)) AS distance
  WITH startNode(link) AS before, endNode(link) AS after, distance
  RETURN collect(elementId(before)) AS befores, collect(elementId(after)) AS afters,
         collect(CASE WHEN distance <= 2 THEN [before, after] END) AS linked
}
CALL (seeds, linked) {
  UNWIND linked + [seeds] AS some
  UNWIND some AS chunk
  WITH DISTINCT chunk
    // filter
  WHERE coalesce(chunk.role, 'person') IN $where.roles
    AND ($until IS NULL OR chunk.at <= $until)
    AND ($where.sessions IS NULL OR chunk.session IN $where.sessions)
    AND ($where.speakers IS NULL OR coalesce(chunk.speaker, '') IN $where.speakers)
    AND ($where.since IS NULL OR chunk.at >= $where.since)
    AND ($where.until IS NULL OR chunk.at <= $where.until)
    AND all(mark IN $where.marks WHERE mark IN coalesce(chunk.marks, []))
    // end of filter
  RETURN [
    collect(coalesce(chunk.packed, [name IN $unpacked | chunk[name]])),
    collect(elementId(chunk)),
    collect(CASE WHEN $texts THEN chunk.text ELSE '' END)] AS chunks
}
CALL (seeds, themes_by_vector) {
  CALL (seeds, themes_by_vector) {
    UNWIND seeds AS seed
    MATCH (seed)<-[:HAS_CHUNK]-(session:Session)
    RETURN session
    UNION
    UNWIND themes_by_vector AS theme
    MATCH (theme)<-[:HAS_THEME]-(session:Session)
    RETURN session
  }
  CALL (session) {
    MATCH (session)-[:HAS_THEME]->(theme:Theme)
    RETURN collect(coalesce(theme.packed, [name IN $unpacked | theme[name]])) AS themes
  }
  // keys
  CALL (session) {
    MATCH (session)-[:HAS_KEY]->(key:Key)
    UNWIND range(0, size($entities) - 1) AS position
    WITH position,
         max(coalesce(vector.similarity.cosine(key.embedding, $entities[position]), 0.5)) AS nearest
    ORDER BY position
    RETURN collect(nearest) AS keys
  }
  // end of keys
  RETURN collect([session.uid, session.id, themes
    // keys
    , COUNT { (session)-[:HAS_KEY]->() }, keys
    // end of keys
  ]) AS sessions
}
RETURN chunk_counts, triple_counts, triples, anchored, chunks + [befores, afters] AS chunks,
       [chunk IN chunks_by_vector | elementId(chunk)] AS chunks_by_vector,
       [chunk IN chunks_by_words | elementId(chunk)] AS chunks_by_words, sessions
