// what: block new facts in all existing spaces until the transaction ends
MATCH (facts:SpaceFacts)
WHERE facts.name > ''
WITH facts ORDER BY facts.name
SET facts.holds = coalesce(facts.holds, 0) + 1
