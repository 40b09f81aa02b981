// what: the dated facts about an entity in order of their valid time
// parameters: entity: string
// returns: when, valid_from, valid_to, subject, relation, object, negated
MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(t:Triple)
WHERE toLower(e.name) = toLower($entity) AND t.valid_from IS NOT NULL
RETURN DISTINCT t.when AS when, t.valid_from AS valid_from, t.valid_to AS valid_to,
       t.subject AS subject, t.relation AS relation, t.object AS object, t.negated AS negated
ORDER BY valid_from, valid_to, subject, relation, object
