// what: find current triples that share a slot of one value with others
// returns: uids, by slot
MATCH (triple:Triple) USING INDEX triple:Triple(space, last_observed)
WHERE triple.space = $space AND triple.last_observed IS NOT NULL
  AND triple.slot IS NOT NULL AND NOT triple.slot CONTAINS '|' AND triple.status = 'current'
WITH triple.holder AS holder,
     CASE WHEN triple.slot STARTS WITH '<' THEN substring(triple.slot, 1) ELSE triple.slot END AS slot, collect(triple.uid) AS uids,
     max(triple.last_observed) AS newest
WHERE size(uids) > 1
RETURN uids ORDER BY newest DESC, slot LIMIT $limit
