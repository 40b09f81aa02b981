// what: find entities, as extracted, that no mention or triple with evidence refers to any longer
// parameters: entities (uids)
// returns: uid, whether a user constraint or a user's merge refers to it
UNWIND $entities AS uid
MATCH (entity:Named {uid: uid})
WITH entity, coalesce(entity.shown_uid, entity.uid) AS home
MATCH (shown:Named {uid: home})
WHERE NOT EXISTS {
  MATCH (shown)<-[mention:MENTIONS]-(:Chunk)
  WHERE coalesce(mention.raw, shown.uid) = entity.uid
} AND NOT EXISTS {
  MATCH (shown)<-[:SUBJECT|OBJECT]-(triple:Triple)-[evidence:EVIDENCE]->(:Chunk)
  WHERE evidence.raw IS NULL AND entity.uid IN [triple.raw_subject, triple.raw_object]
} AND NOT EXISTS {
  MATCH (shown)<-[:SUBJECT|OBJECT]-(triple:Triple)<-[:SAME_AS]-(folded:TripleVariant)
  WHERE entity.uid IN [folded.raw_subject, folded.raw_object] AND EXISTS {
    MATCH (triple)-[evidence:EVIDENCE]->(:Chunk) WHERE evidence.raw = folded.uid
  }
}
RETURN entity.uid, EXISTS { (entity)-[:RULED]-(:Named) } OR EXISTS {
  MATCH (entity)<-[:OF|INTO]-(merge:Merge) WHERE merge.by = 'user'
}
