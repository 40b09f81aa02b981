// what: count the mentions of entities and the evidence of their triples
// parameters: entities (uids)
// returns: uid, mentions and evidence
UNWIND $entities AS uid
MATCH (entity:Entity {uid: uid})
RETURN uid, COUNT { (entity)<-[:MENTIONS]-(:Chunk) }
  + COUNT { (entity)<-[:SUBJECT]-(:Triple)-[:EVIDENCE]->(:Chunk) }
  + COUNT { (entity)<-[:OBJECT]-(:Triple)-[:EVIDENCE]->(:Chunk) }
