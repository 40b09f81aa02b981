// what: facts that are no longer true, with the fact that took the place of each, the newest first
// parameters: top: integer = 50
// returns: old, relation, subject, new, new_relation, at, by, reason
MATCH (n:Triple)-[s:SUPERSEDES]->(o:Triple)
RETURN o.object AS old, o.relation AS relation, o.subject AS subject, n.object AS new,
       n.relation AS new_relation, s.at AS at, s.by AS by, s.reason AS reason
ORDER BY at DESC, subject, relation, old
LIMIT $top
