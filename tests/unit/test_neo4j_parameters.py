"""How statements for Neo4j get their parameters."""

from __future__ import annotations

import pytest

from cognigraph.stores.neo4j.statements import GIVEN, with_parameters


def test_a_statement_that_reads_gets_one_map():
    text = "MATCH (c:Chunk) WHERE c.space = $space AND $where.role IS NULL RETURN c LIMIT $limit"
    given = {"space": "s", "where": {"role": None}, "limit": 3}
    assert with_parameters(text, given) == (
        "MATCH (c:Chunk) WHERE c.space = $given.space AND $given.where.role IS NULL "
        "RETURN c LIMIT $given.limit",
        {"given": given},
    )


def test_a_statement_that_writes_gets_its_parameters_one_by_one():
    for clause in ("SET c.done = $done", "CREATE (c)", "MERGE (c)-[:IN]->(d)", "DETACH DELETE c"):
        text = f"MATCH (c:Chunk {{uid: $uid}}) {clause}"
        assert with_parameters(text, {"uid": "u"}) == (text, {"uid": "u"})


def test_a_word_that_only_resembles_a_clause_does_not_write():
    text = "// what: set apart\nMATCH (o:OFFSET) WHERE o.CREATED = $at RETURN o"
    assert with_parameters(text, {"at": 1})[1] == {"given": {"at": 1}}


@pytest.mark.parametrize(
    "text",
    ["MATCH (n {uid: $uids[0]}) RETURN n", "UNWIND $rows AS row CREATE (n:Chunk) SET n += row"],
)
def test_what_the_driver_logs_says_nothing_of_the_values(text):
    """It formats all parameters of each statement, which takes longer than to send them."""
    rows = [{"text": "a secret", "vector": [0.5] * 256}] * 512
    _, given = with_parameters(
        text, {"uids": ["secret"], "rows": rows, "one": {"text": "a secret"}, "k": 7}
    )
    assert "secret" not in repr(given)
    assert len(repr(given)) < 200
    values = given.get(GIVEN, given)
    assert (values["rows"], values["one"], values["k"]) == (rows, {"text": "a secret"}, 7)
