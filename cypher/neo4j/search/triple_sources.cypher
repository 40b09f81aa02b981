// what: run the candidate sources for triples and sessions: triples by vector, in the space's own
//   index or by comparing all, by words, and by the entities that the question names, each with its
//   triples for the caller to compare, or if they are more than `few`, with those most similar to
//   the question; an entity with more than `most` triples (a hub) is left to the vector index;
//   sessions by the vectors of their themes
// parameters: space, vector, until (or null), words: {index, query, limit} (query null:
//   none), triple and theme: {index (null: none), fetch, after (arrival number, null: compare
//   none), limit}, anchors (hashes), names (stemmed), limit (triples of an anchor), most, few,
//   unpacked (names of properties; see stores/neo4j/index/packed.py)
// returns: the entities by uid: [uid, name, triples (nodes, and microseconds when they were last
//   observed), whether it is a hub, triples that were compared (uids)]; rows as of nearest_indexed
//   (subjects and objects only if there is a hub), nearest and by_terms; rows as of
//   nearest_indexed and nearest for themes
// Each subquery imports its parameter, so that the planner runs one after the other.
WITH $triple AS source, $words AS words, $anchors AS anchors, $theme AS theme
CALL (anchors) {
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
  WITH DISTINCT entity
  WITH entity, COUNT { (entity)<-[:SUBJECT]-() } + COUNT { (entity)<-[:OBJECT]-() } AS own
  WITH entity, own > $most AS hub, own > $few AS many
  CALL (entity, many) {
    WITH entity, many WHERE NOT many
    MATCH (entity)<-[:SUBJECT|OBJECT]-(triple:Triple)
    WHERE $until IS NULL OR triple.first_observed <= $until
    WITH DISTINCT triple
    RETURN [
      collect(coalesce(triple.packed, [name IN $unpacked | triple[name]])),
      collect(coalesce(
        triple.last_observed.epochSeconds * 1000000 + triple.last_observed.microsecond, 0))]
        AS triples
  }
  CALL (entity, hub, many) {
    WITH entity, hub, many WHERE many AND NOT hub
    MATCH (entity)<-[:SUBJECT|OBJECT]-(triple:Triple)
    WHERE $until IS NULL OR triple.first_observed <= $until
    WITH DISTINCT triple
    WITH triple, coalesce(vector.similarity.cosine(triple.embedding, $vector), 0.5) AS score
    ORDER BY score DESC, triple.last_observed DESC, triple.uid LIMIT $limit
    RETURN collect(triple.uid) AS best
  }
  WITH entity, triples, hub, best ORDER BY entity.uid
  RETURN collect([entity.uid, entity.name, triples, hub, best]) AS anchored
}
CALL (source, anchored) {
  WITH source.index AS index, any(anchor IN anchored WHERE anchor[3]) AS has_hub
  WHERE index IS NOT NULL
  CALL db.index.vector.queryNodes(index, $triple.fetch, $vector) YIELD node
  RETURN [
    collect(coalesce(node.packed, [name IN $unpacked | node[name]])),
    collect($until IS NULL OR node.first_observed <= $until),
    collect(CASE WHEN has_hub THEN [node.subject_uid, node.object_uid] END)] AS indexed
}
CALL (source) {
  WITH source.after AS after WHERE after IS NOT NULL
  MATCH (node:Triple) USING INDEX node:Triple(space, seq)
  WHERE node.space = $space AND node.seq > after
    AND ($until IS NULL OR node.first_observed <= $until)
  WITH node, vector.similarity.cosine(node.embedding, $vector) AS score
  WHERE score > 0.5
  WITH node, score ORDER BY score DESC, node.seq LIMIT toInteger($triple.limit)
  RETURN [collect(score), collect(node.uid), []] AS compared
}
CALL (words) {
  WITH words.query AS query WHERE query IS NOT NULL
  CALL db.index.fulltext.queryNodes($words.index, query, {limit: $words.limit}) YIELD node, score
  RETURN [
    collect(coalesce(node.packed, [name IN $unpacked | node[name]])),
    collect(score), collect($until IS NULL OR node.first_observed <= $until)] AS by_words
}
CALL (theme) {
  WITH theme.index AS index WHERE index IS NOT NULL
  CALL db.index.vector.queryNodes(index, $theme.fetch, $vector) YIELD node
  RETURN [
    collect(coalesce(node.packed, [name IN $unpacked | node[name]])),
    collect(true), []] AS themes_indexed
}
CALL (theme) {
  WITH theme.after AS after WHERE after IS NOT NULL
  MATCH (node:Theme) USING INDEX node:Theme(space, seq)
  WHERE node.space = $space AND node.seq > after
  WITH node, vector.similarity.cosine(node.embedding, $vector) AS score
  WHERE score > 0.5
  WITH node, score ORDER BY score DESC, node.seq LIMIT toInteger($theme.limit)
  RETURN [collect(score), collect(node.uid), collect(node.session_uid)] AS themes_compared
}
RETURN anchored, indexed, compared, by_words, themes_indexed, themes_compared
