"""Queries that could multiply values without bound are refused; others are not."""

from __future__ import annotations

import pytest

from cognigraph.cypher import named_queries
from cognigraph.cypher.guard.growth import check_growth
from cognigraph.cypher.guard.query_limits import check_query
from cognigraph.errors import QueryError
from cognigraph.settings import QuerySettings

LIMITS = QuerySettings()
PARAMETERS = {"n": 10**9, "few": 9, "text": "x" * 1000, "list": [1, 2, 3], "long": "x" * 2_000_000}


def check(query: str) -> None:
    check_growth(query, check_query(query, LIMITS), PARAMETERS, LIMITS)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("RETURN size([x IN range(1,1000000000) WHERE x%2=0])", "into 1,000,000,000, over"),
        ("RETURN `range`(1, 1000000000)", "into 1,000,000,000, over"),
        ("RETURN RANGE(0x0, 0x3b9aca00)", "max_growth"),
        ("RETURN range(1, $n)", "max_growth"),
        ("RETURN range($n, 0, -1)", "max_growth"),
        ("RETURN range(-$n, 0)", "max_growth"),
        ("RETURN range(1, 1000) AS a, range(1, 1000) AS b", "into 1,000,000, over"),
        ("UNWIND [1000000000] AS n RETURN range(1, n)", "the bounds of range"),
        ("RETURN range(1, 10^9)", "the bounds of range"),
        ("RETURN range(1, 1e9)", "the bounds of range"),
        ("RETURN range(1, 10 * 10)", "the bounds of range"),
        ("RETURN reduce(s = 'x', i IN range(1, 40) | s + s)", "double in each iteration"),
        ("RETURN reduce(s = 'x', i IN [1, 2] | replace(s, 'x', 'xx'))", "double in each iteration"),
        ("RETURN reduce(s = [1], i IN [1, 2] | [y IN [1, 2] | s])", "double in each iteration"),
        ("WITH 'x' AS a " + "WITH a + a AS a " * 40 + "RETURN a", "max_growth"),
        ("WITH [1] AS a " + "WITH [a, a] AS a " * 40 + "RETURN a", "max_growth"),
        ("WITH [1] AS a " + "WITH {x: a, y: a} AS a " * 40 + "RETURN a", "max_growth"),
        ("WITH 1 AS a " + "WITH a AS b, a AS c WITH b + c AS a " * 20 + "RETURN a", "max_growth"),
        ("WITH $list AS l " + "WITH [x IN l | l] AS l " * 3 + "RETURN l", "max_growth"),
        ("RETURN COLLECT { WITH 'x' AS a " + "WITH a + a AS a " * 20 + "RETURN a }", "max_growth"),
        ("RETURN replace(replace('xx', 'x', $text), 'x', $text)", "max_growth"),
        ("MATCH (n) RETURN replace(n.text, 'a', n.text)", "the replacement in replace"),
        ("RETURN $long + $long + $long" + " + $long" * 30, "max_result_chars"),
        ("WITH [1] AS l RETURN [a IN l | [b IN l | [c IN l | 1]]]", "max_growth|nested loops"),
        ("WITH [1] AS l RETURN all(a IN l WHERE any(b IN l WHERE none(c IN l WHERE c)))", "loops"),
    ],
)
def test_queries_that_could_multiply_values_are_refused(query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        check(query)


@pytest.mark.parametrize(
    "query",
    [
        "UNWIND range(1, 100) AS x UNWIND range(1, 100) AS y RETURN sum(x * y)",
        "MATCH p = (n)-->() UNWIND range(0, size(nodes(p)) - 1) AS i RETURN nodes(p)[i]",
        "RETURN range(10, 1, -1), range(0, $few), range(1, $few + 1, 2)",
        "MATCH (n) WHERE n.text STARTS WITH 'a' RETURN n.first + ' ' + n.last AS name",
        "MATCH (n) RETURN n {.name, at: n.at, text: n.text}, [(n)-->(m) | m.name] AS names",
        "MATCH (n) WITH collect(n) AS all_ RETURN [n IN all_ WHERE n.x > 1 | n.x] AS xs",
        "MATCH (n) RETURN reduce(sum_ = 0, x IN collect(n.x) | sum_ + x) AS total",
        "MATCH (n) RETURN replace(n.text, 'a', 'bb')",
        "MATCH (n) RETURN CASE WHEN n.x > 1 THEN n.x ELSE n.y END AS v",
    ],
)
def test_bounded_queries_pass(query: str) -> None:
    check(query)


def test_the_shipped_queries_pass() -> None:
    for query in named_queries().values():
        check(query.text)
