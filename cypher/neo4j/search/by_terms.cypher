// what: find nodes by full text that contain some of the terms, highest score first
// parameters: index, query (hashed tokens with boosts), limit, space, terms, time (a property)
// returns: uids, scores, lengths, terms found in each, times in microseconds, number fetched
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit}) YIELD node, score
WITH node, score WHERE node.space = $space
RETURN collect(node.uid), collect(score), collect(node.length),
       collect([term IN node.terms WHERE term IN $terms]),
       collect(node[$time].epochSeconds * 1000000 + node[$time].microsecond), count(*)
