"""Inspection on a real Neo4j: the same answers as on a graph, and nothing of other spaces."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity

from cognigraph.cypher import named_query
from cognigraph.cypher.guard.confine import confine, verify_plan
from cognigraph.cypher.run_on_neo4j import run_on_neo4j
from cognigraph.errors import QueryError, StoreUnavailableError
from cognigraph.settings import QuerySettings
from tests.cases import each
from tests.examples import examples
from tests.property.test_confine_properties import queries
from tests.unit.test_inspect_graph import ARGUMENTS, EDGES, EXPECTED, NODES, SUBSET_QUERIES

pytestmark = [pytest.mark.neo4j, pytest.mark.oldest_line]

OTHER = "other"
"""Marks every property of the other space, so that a leak shows whatever is returned."""


class Server:
    """A driver and the names of two spaces that hold the sample graph."""

    def __init__(self, driver: Driver, space: str) -> None:
        self.driver, self.space, self.other = driver, space, f"{space}-{OTHER}"

    def run(
        self, query: str, parameters: dict[str, Any], limit: int = 1000
    ) -> list[dict[str, Any]]:
        return run_on_neo4j(
            self.driver, None, self.space, query, parameters, limit=limit, timeout=20
        )

    def load(self, space: str, mark: str) -> None:
        def marked(properties: Any) -> dict[str, Any]:
            return {
                key: f"{mark}{value}" if mark and isinstance(value, str) else value
                for key, value in properties.items()
            }

        for node in NODES:
            values = {**marked(node.properties), "uid": f"{mark}{node.uid}", "space": space}
            self.driver.execute_query(
                f"CREATE (n:{node.label}) SET n = $values, n.embedding = [1.0], n.seq = 7",  # type: ignore[arg-type]
                values=values,
            )
        for edge in EDGES:
            self.driver.execute_query(
                "MATCH (a {uid: $start, space: $space}), (b {uid: $end, space: $space}) "
                f"CREATE (a)-[r:{edge.type}]->(b) SET r = $values",  # type: ignore[arg-type]
                start=f"{mark}{edge.start}",
                end=f"{mark}{edge.end}",
                space=space,
                values=marked(edge.properties),
            )


@pytest.fixture(scope="module")
def server(neo4j_uri: str) -> Iterator[Server]:
    """A server that all tests read from; none writes."""
    off = NotificationMinimumSeverity.OFF
    with GraphDatabase.driver(neo4j_uri, notifications_min_severity=off) as driver:
        server = Server(driver, f"inspect-{uuid4().hex[:8]}")
        server.load(server.space, "")
        server.load(server.other, f"{OTHER}-")
        yield server
        driver.execute_query(
            "MATCH (n) WHERE n.space IN $spaces DETACH DELETE n",
            spaces=[server.space, server.other],
        )


def _without_space(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if key != "space"}
    return value


def test_named_queries_answer_as_on_a_graph(server: Server) -> None:
    for name, expected in EXPECTED.items():
        query = named_query(name)
        found = server.run(query.text, query.arguments(ARGUMENTS.get(name, {})))
        assert [tuple(row.values()) for row in found] == expected, name
        assert all(tuple(row) == query.returns for row in found), name


def test_the_subset_answers_as_on_a_graph(server: Server) -> None:
    for query, parameters, expected in SUBSET_QUERIES:
        found = server.run(query, parameters)
        rows = [tuple(_without_space(value) for value in row.values()) for row in found]
        assert rows == expected, query


@pytest.mark.every_line
def test_what_only_neo4j_understands_runs_too(server: Server) -> None:
    found = server.run(
        "MATCH (c:Chunk) OPTIONAL MATCH (c)<-[:EVIDENCE]-(t) "
        "RETURN c.uid AS uid, count(t) AS n, COUNT { (c)-[:MENTIONS]->() } AS mentions "
        "ORDER BY uid",
        {},
    )
    assert [tuple(row.values()) for row in found] == [
        ("c1", 1, 2), ("c2", 1, 2), ("c3", 0, 0), ("c4", 3, 2),
    ]  # fmt: skip
    path = server.run("MATCH p = (:Session {id: 'two'})-[:HAS_KEY]->(k) RETURN p", {})
    assert [_without_space(step) for step in path[0]["p"]][1:] == [
        {"weight": 1.0}, {"name": "tea", "uid": "k2"},
    ]  # fmt: skip


LEAKS = [
    "MATCH (n) RETURN n",
    "MATCH (n) RETURN count(n)",
    "MATCH () RETURN count(*)",
    "MATCH ()-[r]->() RETURN r",
    "MATCH (a)-[r]-(b) RETURN a, r, b",
    "MATCH (n:Chunk|Key) RETURN n",
    "MATCH (n:!Chunk) RETURN n",
    "MATCH (n:%) RETURN n",
    "MATCH (n IS Chunk) RETURN n",
    "MATCH (n:Chunk WHERE n.space <> 'x') RETURN n",
    "MATCH (n) WHERE n.space STARTS WITH 'inspect' OR true RETURN n",
    "MATCH (`)`:Chunk) RETURN `)`",
    "MATCH /* (n) */ (n) // )\nRETURN n",
    "MATCH (n {text: '}) RETURN 1 //'}), (m) RETURN m",
    "MATCH (a), (b) RETURN a, b LIMIT 2000",
    "MATCH p = (a)-->(b)-->(c) RETURN p",
    "MATCH (a) WHERE EXISTS { (b:Chunk) } RETURN [(x)-->(y) | y] AS ys",
    "MATCH (a:Key) RETURN COLLECT { MATCH (b) RETURN b } AS bs",
    "MATCH (a:Key) CALL (a) { MATCH (b:Chunk) RETURN b } RETURN b",
    "MATCH (a:Key) CALL { MATCH (b:Chunk) RETURN b UNION MATCH (b:Key) RETURN b } RETURN b",
    "MATCH (a:Key) OPTIONAL MATCH (b:Chunk) WHERE b.at IS NOT NULL RETURN b",
    "MATCH (a) RETURN a {.*, more: [(a)--(b) | b {.*}]}",
    "UNWIND [1, 2] AS x MATCH (n) RETURN x, n",
    "MATCH (n) WITH n ORDER BY n.uid LIMIT 3 MATCH (m)--(n) RETURN m, startNode([(m)--(n)|1][0])",
    "MATCH (n:Chunk) RETURN count(*) UNION ALL MATCH (n:Chunk) RETURN count(*)",
]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _leak(server: Server, query: str) -> list[str]:
    try:
        found = server.run(query, {"p": "x", "props": {}})
    except QueryError:
        return []
    return [text for row in found for text in _texts(row) if text.startswith(OTHER)]


@pytest.mark.every_line
@each("query", LEAKS)
def test_no_form_of_query_shows_another_space(server: Server, query: str) -> None:
    assert _leak(server, query) == []


def test_most_random_queries_are_answered(server: Server) -> None:
    refused = []
    for query in LEAKS:
        try:
            server.run(query, {})
        except QueryError as problem:
            refused.append((query, str(problem)))
    assert [query for query, _ in refused] == [LEAKS[-2]], refused


def test_counts_are_of_one_space(server: Server) -> None:
    assert server.run("MATCH (n) RETURN count(n) AS n", {}) == [{"n": len(NODES)}]
    assert server.run("MATCH ()-->() RETURN count(*) AS n", {}) == [{"n": len(EDGES)}]


@settings(
    max_examples=examples(120),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(query=queries())
def test_random_queries_never_show_another_space(server: Server, query: str) -> None:
    assert _leak(server, query) == []


def test_limit_and_engine_properties(server: Server) -> None:
    found = server.run("MATCH (c:Chunk) RETURN c", {}, limit=2)
    assert len(found) == 2
    assert all({"embedding", "seq"}.isdisjoint(row["c"]) for row in found)


def test_a_query_that_takes_too_long_is_ended(server: Server) -> None:
    query = "MATCH " + ", ".join(f"(n{i})" for i in range(12)) + " RETURN sum(n0.seq) AS n"
    with pytest.raises(QueryError, match=r"longer than 0\.5 s"):
        run_on_neo4j(server.driver, None, server.space, query, {}, limit=1, timeout=0.5)


def test_what_a_query_itself_causes_is_not_repeated(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Neo4j calls a full memory transient, and the driver repeats what is transient.

    The values are collected by an aggregation because Neo4j counts its memory. A list comprehension
    is not counted: it fills the heap, and the server then spends its time collecting garbage for
    minutes, long after the client has given up.
    """
    limits = QuerySettings(max_steps=2_000_000_000, max_result_chars=2_000_000_000)
    query = "UNWIND range(1, 100000000) AS x WITH collect(x) AS xs RETURN size(xs) AS n"
    with pytest.raises(QueryError, match="more memory"):
        run_on_neo4j(server.driver, None, "x", query, {}, limit=1, timeout=60, limits=limits)
    assert not [record for record in caplog.records if "retried" in record.getMessage()]


def test_a_range_that_is_too_large_is_not_sent(server: Server) -> None:
    with pytest.raises(QueryError, match="numbers; use one of at most"):
        server.run("RETURN size([x IN range(1, 1000000000) WHERE x % 2 = 0])", {})
    assert server.run("UNWIND range(1, 4) AS x RETURN sum(x) AS n", {}) == [{"n": 10}]


def test_a_server_that_is_silent_does_not_hold_the_call() -> None:
    """It accepts the connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"bolt://127.0.0.1:{silent.getsockname()[1]}"
        with GraphDatabase.driver(uri, connection_timeout=10) as driver:
            started = time.monotonic()
            with pytest.raises(QueryError, match=r"longer than 0\.5 s"):
                run_on_neo4j(driver, None, "x", "MATCH (n) RETURN n", {}, limit=1, timeout=0.5)
            assert time.monotonic() - started < 8


@each(
    ("query", "message"),
    [
        ("CREATE (n:Chunk) RETURN n", "CREATE is not allowed"),
        ("MATCH (n) RETURN m", "Neo4j rejected the query: .*not defined"),
        ("MATCH (n) RETUR n", "the clause 'RETUR' is not supported in an inspection query"),
        ("MATCH (n) RETURN toLower(n)", "Neo4j rejected the query: Type mismatch"),
        ("MATCH (n) WHERE n.uid = $gone RETURN n", "Neo4j rejected the query: .*gone"),
        ("CALL db.labels() YIELD label RETURN label", "query cannot call procedures"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row", "LOAD CSV reads files"),
    ],
)
def test_mistakes_are_one_line(server: Server, query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        server.run(query, {})


def test_the_plan_check_catches_what_the_rewriting_would_miss(server: Server) -> None:
    def plan(query: str) -> dict[str, Any]:
        _, summary, _ = server.driver.execute_query("EXPLAIN " + query, __space="x")  # type: ignore[arg-type]
        assert summary.plan is not None
        return summary.plan

    for query in LEAKS[:12]:
        with pytest.raises(QueryError, match=r"other spaces|not confined"):
            verify_plan(plan(query))
        verify_plan(plan(confine(query)))
    with pytest.raises(QueryError, match="ProcedureCall"):
        verify_plan(plan("CALL db.labels() YIELD label RETURN label"))
    with pytest.raises(QueryError, match="other spaces"):
        verify_plan(
            plan("MATCH (n {space: $__space}) MATCH (m:Chunk) WHERE m.uid = n.uid RETURN m")
        )


def test_an_unreachable_server_is_reported() -> None:
    with (
        GraphDatabase.driver("bolt://127.0.0.1:1", max_transaction_retry_time=1) as driver,
        pytest.raises(StoreUnavailableError, match="cannot be reached"),
    ):
        run_on_neo4j(driver, None, "x", "MATCH (n) RETURN n", {}, limit=1, timeout=1)
