// what: read the newest versions of what writers keep in a space
MATCH (node:Written) USING INDEX node:Written(space, chain, version)
WHERE node.space = $space AND node.chain IS NOT NULL AND node.version IS NOT NULL
WITH node ORDER BY node.version
WITH node.chain AS chain, collect(node)[-1] AS newest
RETURN chain, newest.version, coalesce(newest.text, newest.context)
