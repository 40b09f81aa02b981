// name: duplicates-suspected
// what: names that belong to several entities of different type; similar spellings are not compared
// parameters: top: integer = 50
// returns: name, entities, first, last
MATCH (e:Entity)
WITH toLower(e.name) AS name, count(e) AS entities, min(e.type) AS first, max(e.type) AS last
WHERE entities > 1 AND first <> last
RETURN name, entities, first, last
ORDER BY entities DESC, name
LIMIT $top
