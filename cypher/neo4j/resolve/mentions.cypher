// what: move mentions to the canonical entities
// parameters: rows: [{uid, old, shown}], where old is the previous and shown the new canonical uid,
//   null if the entity is in no group
UNWIND $rows AS row
MATCH (old:Named {uid: row.old})<-[mention:MENTIONS]-(chunk:Chunk)
WHERE row.old <> coalesce(row.shown, row.uid) AND coalesce(mention.raw, row.old) = row.uid
WITH row, mention, mention.spelled AS spelled, chunk, coalesce(row.shown, row.uid) AS uid
MATCH (shown:Named {uid: uid})
DELETE mention
CREATE (chunk)-[:MENTIONS {raw: CASE WHEN uid = row.uid THEN null ELSE row.uid END,
                           spelled: spelled}]->(shown)
