"""Random deep and long queries raise nothing but our errors, before they reach a store."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.cypher.local.graph import EdgeRow, NodeRow, build_graph
from cognigraph.cypher.local.run_locally import run_on_graph
from cognigraph.cypher.run_on_neo4j import _prepared
from cognigraph.errors import QueryError
from cognigraph.settings import QuerySettings
from tests.cypher_generator import ResourceGenerator

LIMITS = QuerySettings()
GRAPH = build_graph(
    [NodeRow(str(n), "Chunk", {"x": n, "text": f"t{n}"}) for n in range(5)],
    [EdgeRow(str(n), "NEXT", str(n + 1)) for n in range(4)],
)
WORDS = (
    "( ) [ ] { } + - * / % ^ = < > , . | ! : NOT AND OR XOR IN CASE WHEN THEN ELSE END range "
    "reduce replace size n x $p 'a' 1 1000000000 0 MATCH WHERE RETURN WITH UNWIND AS UNION "
    "CALL EXISTS"
).split()
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """One form, repeated or nested many times, or a mixture of words."""
    times = draw(st.sampled_from([1, 5, 29, 31, 150, 300, 3000]))
    opening, inside, closing = draw(
        st.sampled_from(
            [
                ("(", "n.x = 1", ")"),
                ("[", "1", "]"),
                ("NOT ", "n.x = 1", ""),
                ("", "n", ".x"),
                ("- ", "1", ""),
                ("CASE WHEN true THEN ", "1", " ELSE 0 END"),
                ("1 + ", "1", ""),
                ("n.x = 1 AND ", "true", ""),
                ("trim(", "n.text", ")"),
                ("{a: ", "1", "}"),
                ("size([x IN ", "[1]", "])"),
                ("range(1, ", "9", ")"),
                ("n.x IN [", "1", "]"),
                ("EXISTS { (n) WHERE ", "true", "}"),
                ("reduce(a = ", "1", ", x IN [1] | a + a)"),
            ]
        )
    )
    if draw(st.booleans()):
        return opening * times + inside + closing * times
    return " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=60)))


@pytest.mark.slow
@given(expression=expressions(), parameter=values)
def test_any_query_raises_only_errors_of_cognigraph(expression: str, parameter: Any) -> None:
    for query in (
        f"MATCH (n:Chunk) WHERE {expression} RETURN n.x",
        f"MATCH (n) RETURN {expression}",
        expression or "MATCH",
    ):
        try:
            run_on_graph(GRAPH, query, {"p": parameter}, limit=5, timeout=20)
        except QueryError as problem:
            assert len(str(problem)) < 2000
        try:
            _prepared(query, {"p": parameter}, LIMITS)
        except QueryError as problem:
            assert len(str(problem)) < 2000


@pytest.mark.slow
def test_the_time_limit_holds_for_whatever_a_condition_asks_for() -> None:
    generator, found = ResourceGenerator(random.Random(5)), 0
    for _ in range(60):
        _, parameters = generator.query()
        query = f"MATCH (n:Chunk) WHERE {generator.condition('n')} RETURN n.uid"
        started = time.process_time()
        try:
            found += len(run_on_graph(GRAPH, query, parameters, limit=5, timeout=2)) >= 0
        except QueryError as problem:
            assert len(str(problem)) < 2000
        assert time.process_time() - started < 4, query
    assert found > 20


def test_texts_are_not_repeated_or_formatted_as_python_does() -> None:
    for value in ("n.text * 1000000000", "'%999999999d' % 5", "n.text * (n.x + 999999999)"):
        query = f"MATCH (n:Chunk) WHERE {value} = 'a' RETURN n.uid"
        with pytest.raises(QueryError, match="takes two numbers"):
            run_on_graph(GRAPH, query, {}, limit=5, timeout=20)
    query = "MATCH (n:Chunk) WHERE n.x * 3 % 4 = 2 RETURN n.x AS x"
    assert run_on_graph(GRAPH, query, {}, limit=5, timeout=20) == [{"x": 2}]
