// what: the condition that a triple passes a query of triples
// takes: triple, $until, $status, $slot, $text (normalised), $valid_at, $valid_micros,
//   $where (see stores/neo4j/tokens.py), each null for all
  ($until IS NULL OR triple.first_observed <= $until)
  AND ($status IS NULL OR coalesce(triple.status, 'current') = $status)
  AND ($slot IS NULL OR replace(replace(triple.slot, '<', ''), '|', ' ') = $slot
       OR replace(replace(triple.slot, '<', ''), '|', ' ') STARTS WITH $slot + ' ')
  AND ($text IS NULL
       OR toLower(triple.subject + ' ' + triple.relation + ' ' + triple.object) CONTAINS $text)
  AND ($valid_at IS NULL OR (coalesce(triple.status, 'current') <> 'retracted'
       AND ((coalesce(triple.valid_from, triple.first_observed) <= $valid_at
             AND (triple.valid_to IS NULL OR $valid_at < triple.valid_to))
            OR any(i IN range(0, size(coalesce(triple.earlier, [])) - 1, 2)
                   WHERE triple.earlier[i] <= $valid_micros
                     AND $valid_micros < triple.earlier[i + 1]))))
  AND ($where IS NULL OR EXISTS {
    MATCH (triple)-[evidence:EVIDENCE]->(chunk:Chunk)
    WHERE ($until IS NULL OR evidence.observed_at <= $until)
      AND coalesce(chunk.role, 'person') IN $where.roles
      AND ($where.sessions IS NULL OR chunk.session IN $where.sessions)
      AND ($where.speakers IS NULL OR coalesce(chunk.speaker, '') IN $where.speakers)
      AND ($where.since IS NULL OR chunk.at >= $where.since)
      AND ($where.until IS NULL OR chunk.at <= $where.until)
      AND all(mark IN $where.marks WHERE mark IN coalesce(chunk.marks, []))
  })
