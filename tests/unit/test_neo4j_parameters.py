"""How statements for Neo4j get their parameters."""

from __future__ import annotations

from cognigraph.stores.neo4j.parameters import sent


def test_a_statement_that_reads_gets_one_map():
    text = "MATCH (c:Chunk) WHERE c.space = $space AND $where.role IS NULL RETURN c LIMIT $limit"
    given = {"space": "s", "where": {"role": None}, "limit": 3}
    assert sent(text, given) == (
        "MATCH (c:Chunk) WHERE c.space = $given.space AND $given.where.role IS NULL "
        "RETURN c LIMIT $given.limit",
        {"given": given},
    )


def test_a_statement_that_writes_gets_its_parameters_one_by_one():
    for clause in ("SET c.done = $done", "CREATE (c)", "MERGE (c)-[:IN]->(d)", "DETACH DELETE c"):
        text = f"MATCH (c:Chunk {{uid: $uid}}) {clause}"
        assert sent(text, {"uid": "u"}) == (text, {"uid": "u"})


def test_a_word_that_only_resembles_a_clause_does_not_write():
    text = "// what: set apart\nMATCH (o:OFFSET) WHERE o.CREATED = $at RETURN o"
    assert sent(text, {"at": 1})[1] == {"given": {"at": 1}}
