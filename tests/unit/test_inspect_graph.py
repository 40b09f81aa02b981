"""Queries on an exported graph: all named queries, and the limits of the Cypher subset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from cognigraph.cypher import named_queries, named_query
from cognigraph.cypher.catalog import AS_OF
from cognigraph.cypher.local.graph import EdgeRow, NodeRow, build_graph
from cognigraph.cypher.local.run_locally import run_on_graph
from cognigraph.errors import NotFoundError, QueryError
from cognigraph.settings import QuerySettings
from tests.cases import each

START = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
YEAR = datetime(2024, 1, 1, tzinfo=UTC)


def _chunk(uid: str, session: str, at: datetime, text: str, **more: Any) -> NodeRow:
    values = {"message_id": f"m-{uid}", "session": session, "speaker": "ann", "at": at}
    values |= {"text": text, "part": 0, "parts": 1, "state": "done"}
    return NodeRow(uid, "Chunk", values | more)


def _triple(
    uid: str, subject: str, relation: str, object: str, at: datetime, **more: Any
) -> NodeRow:
    values = {"subject": subject, "relation": relation, "object": object, "negated": False}
    values |= {"first_observed": at, "last_observed": at}
    return NodeRow(uid, "Triple", values | more)


NODES = [
    NodeRow("s1", "Session", {"id": "one", "started_at": START, "ended_at": START + 2 * HOUR}),
    NodeRow("s2", "Session", {"id": "two", "started_at": START + DAY, "ended_at": START + DAY}),
    _chunk("c1", "one", START, "I moved to Oslo (in 2024)."),
    _chunk("c2", "one", START + HOUR, "Bob drinks tea.", speaker="bob"),
    _chunk("c3", "one", START + 2 * HOUR, "Hm.", speaker=None),
    _chunk("c4", "two", START + DAY, 'Now in "Bergen", no tea.', state="pending"),
    NodeRow("e1", "Entity", {"name": "Ann", "type": "person"}),
    NodeRow("e2", "Entity", {"name": "Oslo", "type": "location"}),
    NodeRow("e3", "Entity", {"name": "Bergen", "type": "location"}),
    NodeRow("e4", "Entity", {"name": "Tea", "type": "object"}),
    NodeRow("e5", "Entity", {"name": "Bob", "type": "person"}),
    NodeRow("e6", "Entity", {"name": "bergen", "type": "organization"}),
    _triple("t1", "Ann", "lives in", "Oslo", START, when="2024", valid_from=YEAR,
            valid_to=datetime(2025, 1, 1, tzinfo=UTC), last_observed=START + DAY),
    _triple("t2", "Ann", "lives in", "Bergen", START + DAY),
    _triple("t3", "Bob", "drinks", "Tea", START + HOUR),
    _triple("t4", "Bob", "drinks", "Tea", START + DAY, negated=True),
    NodeRow("k1", "Key", {"name": "moving"}),
    NodeRow("k2", "Key", {"name": "tea"}),
    NodeRow("h1", "Theme", {"title": "Moving", "summary": "Ann moved to Oslo.",
                           "started_at": START, "ended_at": START + HOUR, "reason": "start"}),
]  # fmt: skip

EDGES = [
    *(EdgeRow("s1", "HAS_CHUNK", chunk) for chunk in ("c1", "c2", "c3")),
    EdgeRow("s2", "HAS_CHUNK", "c4"),
    EdgeRow("c1", "NEXT", "c2"),
    EdgeRow("c2", "NEXT", "c3"),
    EdgeRow("s1", "HAS_KEY", "k1", {"weight": 0.75}),
    EdgeRow("s1", "HAS_KEY", "k2", {"weight": 0.25}),
    EdgeRow("s2", "HAS_KEY", "k2", {"weight": 1.0}),
    EdgeRow("s1", "HAS_THEME", "h1"),
    EdgeRow("h1", "COVERS", "c1", {"index": 0}),
    EdgeRow("h1", "COVERS", "c2", {"index": 1}),
    *(EdgeRow(t, "SUBJECT", e) for t, e in
      (("t1", "e1"), ("t2", "e1"), ("t3", "e5"), ("t4", "e5"))),
    *(EdgeRow(t, "OBJECT", e) for t, e in
      (("t1", "e2"), ("t2", "e3"), ("t3", "e4"), ("t4", "e4"))),
    *(EdgeRow(t, "EVIDENCE", c, {"observed_at": at}) for t, c, at in
      (("t1", "c1", START), ("t1", "c4", START + DAY), ("t2", "c4", START + DAY),
       ("t3", "c2", START + HOUR), ("t4", "c4", START + DAY))),
    *(EdgeRow(t, "IN_SESSION", s) for t, s in
      (("t1", "s1"), ("t1", "s2"), ("t2", "s2"), ("t3", "s1"), ("t4", "s2"))),
    *(EdgeRow(c, "MENTIONS", e) for c, e in
      (("c1", "e1"), ("c1", "e2"), ("c2", "e5"), ("c2", "e4"), ("c4", "e3"), ("c4", "e4"))),
    EdgeRow("e3", "RESEMBLES", "e2", {"score": 0.75, "reason": "a sample"}),
    EdgeRow("e1", "RESEMBLES", "e5", {"score": 0.75, "reason": "ruled out"}),
    EdgeRow("e1", "RULED", "e5", {"verdict": "different"}),
    EdgeRow("t2", "SUPERSEDES", "t1", {"at": START, "by": "rules", "reason": "it was denied"}),
]  # fmt: skip

ARGUMENTS: dict[str, dict[str, Any]] = {
    "about": {"entity": "ann"},
    "co-mentioned": {"entity": "TEA"},
    "conversation-around": {"message": "m-c2"},
    "facts-of-session": {"session": "two"},
    "keys": {"session": "one"},
    "session": {"session": "one"},
    "sessions-about": {"entity": "Ann"},
    "sources": {"entity": "Ann"},
    "spread": {"entity": "Ann"},
    "themes": {"session": "one"},
    "timeline": {"entity": "Ann"},
}
END_OF_2024 = datetime(2025, 1, 1, tzinfo=UTC)
C1, C2, C3, C4 = "I moved to Oslo (in 2024).", "Bob drinks tea.", "Hm.", 'Now in "Bergen", no tea.'

# Expected rows as tuples in the order of the query's columns.
EXPECTED: dict[str, list[tuple[Any, ...]]] = {
    "about": [
        ("Ann", "lives in", "Bergen", None, False, START + DAY, 1),
        ("Ann", "lives in", "Oslo", "2024", False, START + DAY, 2),
    ],
    "chunks-without-triples": [(START + 2 * HOUR, "one", None, "m-c3", "done", C3)],
    "co-mentioned": [("Bergen", "location", 1), ("Bob", "person", 1)],
    "conversation-around": [
        (START, "one", "ann", "m-c1", 0, C1),
        (START + HOUR, "one", "bob", "m-c2", 0, C2),
        (START + 2 * HOUR, "one", None, "m-c3", 0, C3),
    ],
    "duplicates-suspected": [("Bergen", "location", "Oslo", "location", 0.75, "a sample")],
    "homonyms": [
        ("bergen", ["location", "organization"], ["Bergen", "bergen"]),
    ],
    "facts-of-session": [
        ("Ann", "lives in", "Oslo", "2024", False, START),
        ("Ann", "lives in", "Bergen", None, False, START + DAY),
        ("Bob", "drinks", "Tea", None, True, START + DAY),
    ],
    "hubs": [
        ("Ann", "person", 2),
        ("Bob", "person", 2),
        ("Tea", "object", 2),
        ("Bergen", "location", 1),
        ("Oslo", "location", 1),
    ],
    "keys": [("moving", 0.75), ("tea", 0.25)],
    "newest-facts": [
        ("Ann", "lives in", "Bergen", None, False, START + DAY, START + DAY),
        ("Ann", "lives in", "Oslo", "2024", False, START, START + DAY),
        ("Bob", "drinks", "Tea", None, True, START + DAY, START + DAY),
        ("Bob", "drinks", "Tea", None, False, START + HOUR, START + HOUR),
    ],
    "pending": [(START + DAY, "two", "m-c4", "pending", C4)],
    "relations": [("drinks", 2), ("lives in", 2)],
    "session": [
        (START, "ann", "m-c1", 0, 1, "done", C1),
        (START + HOUR, "bob", "m-c2", 0, 1, "done", C2),
        (START + 2 * HOUR, None, "m-c3", 0, 1, "done", C3),
    ],
    "sessions-about": [
        ("two", START + DAY, START + DAY, 2),
        ("one", START, START + 2 * HOUR, 1),
    ],
    "shared-keys": [("tea", ["one", "two"], 2)],
    "sources": [
        ("Ann", "lives in", "Oslo", False, START, "ann", "one", "m-c1", C1),
        ("Ann", "lives in", "Bergen", False, START + DAY, "ann", "two", "m-c4", C4),
        ("Ann", "lives in", "Oslo", False, START + DAY, "ann", "two", "m-c4", C4),
    ],
    "superseded": [
        ("Oslo", "lives in", "Ann", "Bergen", "lives in", START, "rules", "it was denied"),
    ],
    "spread": [
        ("Ann", "lives in", "Oslo", 2, 1, 2),
        ("Ann", "lives in", "Bergen", 1, 1, 1),
    ],
    "episodes": [("one", "Moving", START, START + HOUR, "start", 2)],
    "themes": [("Moving", "Ann moved to Oslo.")],
    "timeline": [("2024", YEAR, END_OF_2024, "Ann", "lives in", "Oslo", False)],
}

SUBSET_QUERIES: list[tuple[str, dict[str, Any], list[tuple[Any, ...]]]] = [
    # Both stores must return the same rows. The integration tests run these queries on Neo4j.
    ("MATCH (c:Chunk) RETURN count(*)", {}, [(4,)]),
    ("MATCH (c:Chunk {text: $t}) RETURN count(c), collect(c.text), max(c.at), avg(c.part)",
     {"t": "none"}, [(0, [], None, None)]),
    ("MATCH (c:Chunk) WHERE c.speaker <> 'ann' RETURN c.uid", {}, [("c2",)]),
    ("MATCH (c:Chunk) WHERE NOT c.speaker = 'ann' RETURN c.uid", {}, [("c2",)]),
    ("MATCH (c:Chunk) WHERE c.speaker IS NULL RETURN c.uid", {}, [("c3",)]),
    ("MATCH (c:Chunk) WHERE c.speaker IS NOT NULL RETURN c.uid ORDER BY c.uid DESC", {},
     [("c4",), ("c2",), ("c1",)]),
    ("MATCH (c:Chunk) WHERE c.speaker = $none RETURN c.uid", {"none": None}, []),
    ("MATCH (c:Chunk {speaker: $none}) RETURN c.uid", {"none": None}, []),
    ("MATCH (a:Triple)-[:SUBJECT]->(e)<-[:SUBJECT]-(b:Triple) WHERE a.when = b.when "
     "RETURN a.uid", {}, []),
    ("MATCH (c:Chunk) RETURN c.uid, c.speaker ORDER BY c.speaker, c.uid", {},
     [("c1", "ann"), ("c4", "ann"), ("c2", "bob"), ("c3", None)]),
    ("MATCH (c:Chunk) RETURN c.speaker AS who ORDER BY who DESC LIMIT 2", {}, [(None,), ("bob",)]),
    ("MATCH (c:Chunk) WHERE c.text CONTAINS '(in' OR c.text ENDS WITH 'tea.' AND "
     "c.text STARTS WITH 'Now' RETURN c.uid ORDER BY c.uid", {}, [("c1",), ("c4",)]),
    ("MATCH (c:Chunk) WHERE ((c.uid = 'c1') OR (c.uid = 'c2')) AND NOT (c.uid = 'c1' OR "
     "c.uid = 'c4') RETURN c.uid", {}, [("c2",)]),
    ("MATCH (c:Chunk) WHERE c.uid IN $uids RETURN c.uid ORDER BY c.uid SKIP 1",
     {"uids": ["c1", "c3", "x"]}, [("c3",)]),
    ("MATCH (c:Chunk) WHERE c.at >= $since RETURN c.uid",
     {"since": (START + 3 * HOUR).astimezone(timezone(5 * HOUR))}, [("c4",)]),
    ("MATCH (c:Chunk) WHERE c.at < datetime('2026-05-01T10:00:00Z') RETURN c.uid", {}, [("c1",)]),
    ("MATCH (t:Triple) WHERE t.negated RETURN t.uid", {}, [("t4",)]),
    ("MATCH (t:Triple) WHERE NOT t.negated AND t.relation = 'drinks' RETURN t.uid", {}, [("t3",)]),
    ("MATCH (t:Triple)-[:SUBJECT]->(e:Entity), (t)-[:OBJECT]->(o) WHERE o.name = 'Oslo' "
     "RETURN e.name, o.name", {}, [("Ann", "Oslo")]),
    ("MATCH (c:Chunk {uid: 'c2'})-[:NEXT]-(n) RETURN n.uid ORDER BY n.uid", {},
     [("c1",), ("c3",)]),
    ("MATCH (c:Chunk {uid: 'c1'})-[:NEXT*2]->(n) RETURN n.uid", {}, [("c3",)]),
    ("MATCH (c:Chunk {uid: 'c1'})-[:NEXT*..3]->(n) RETURN n.uid ORDER BY n.uid", {},
     [("c2",), ("c3",)]),
    ("MATCH (s:Session)-[h:HAS_KEY {weight: 1.0}]->(k) RETURN s.id, k.name, type(h) AS t", {},
     [("two", "tea", "HAS_KEY")]),
    ("MATCH (c:Chunk) WHERE EXISTS { (c)<-[:EVIDENCE]-(t:Triple) WHERE t.negated } "
     "RETURN c.uid", {}, [("c4",)]),
    ("MATCH (c:Chunk) WHERE NOT (c)<-[:EVIDENCE]-() AND (:Chunk)-->(c) RETURN c.uid", {},
     [("c3",)]),
    ("MATCH (e:Entity) WITH e.type AS type, count(*) AS n WHERE n > 1 RETURN type, n "
     "ORDER BY type", {}, [("location", 2), ("person", 2)]),
    ("MATCH (t:Triple)-[:SUBJECT]->(e) WITH e, count(t) AS n ORDER BY e.name LIMIT 1 "
     "RETURN e.name, n", {}, [("Ann", 2)]),
    ("MATCH (c:Chunk) RETURN DISTINCT c.speaker ORDER BY c.speaker", {},
     [("ann",), ("bob",), (None,)]),
    ("MATCH (c:Chunk) RETURN count(DISTINCT c.speaker) AS n, min(c.at) AS first, "
     "sum(c.parts) AS parts", {}, [(2, START, 4)]),
    ("MATCH (c:Chunk /* (n) */) // a comment\nWHERE c.`text` = \"Hm.\" RETURN toUpper(c.text)", {},
     [("HM.",)]),
    ("MATCH (c:Chunk WHERE c.uid = 'c3') RETURN coalesce(c.speaker, '?'), size(c.text)", {},
     [("?", 3)]),
    ("MATCH (k:Key {name: 'moving'}) RETURN k", {}, [({"name": "moving", "uid": "k1"},)]),
    ("MATCH (:Session)-[h:HAS_KEY]->(:Key {name: 'moving'}) RETURN h", {}, [({"weight": 0.75},)]),
    ("MATCH (a:Key), (b:Key) WHERE a.uid < b.uid RETURN a.uid, b.uid", {}, [("k1", "k2")]),
    # Calculations, and comparisons of values that are missing or of different types.
    ("MATCH (c:Chunk {uid: 'c1'}) RETURN c.part + 2 * 3 - 1, -7 / 2, -7 % 2, 7 / 2.0, 'a' + 'b'",
     {}, [(5, -3, -1, 3.5, "ab")]),
    ("MATCH (c:Chunk {uid: 'c3'}) RETURN c.part < 'a', c.part = 'a', c.speaker + 'x'", {},
     [(None, False, None)]),
    ("MATCH (c:Chunk {uid: 'c3'}) WHERE (c.speaker = 'x' OR true) AND NOT (c.speaker = 'x' AND "
     "false) AND (true XOR false) RETURN c.uid", {}, [("c3",)]),
    ("MATCH (c:Chunk) WHERE c.speaker IN ['bob', null] OR c.part IN $n RETURN c.uid", {"n": [9]},
     [("c2",)]),
    # No relationship is used twice in a MATCH, but a node may be; each MATCH begins anew.
    ("MATCH (a:Session)-[:HAS_KEY]->(k)<-[:HAS_KEY]-(b) RETURN a.id, b.id ORDER BY a.id", {},
     [("one", "two"), ("two", "one")]),
    ("MATCH (a:Session)-[:HAS_KEY]->(k) MATCH (k)<-[:HAS_KEY]-(b) RETURN count(*)", {}, [(5,)]),
    ("MATCH (a:Chunk)-[:NEXT*0..2]-(b:Chunk) RETURN count(*)", {}, [(10,)]),
    ("MATCH (a:Chunk {uid: 'c3'})<-[n:NEXT*2]-(b) RETURN b.uid, size(n)", {}, [("c1", 2)]),
    ("MATCH (t:Triple) WITH t.relation AS relation, count(*) AS n WHERE n = 2 "
     "MATCH (t:Triple {relation: relation}) RETURN t.uid ORDER BY n, t.uid", {},
     [("t1",), ("t2",), ("t3",), ("t4",)]),
    ("MATCH (c:Chunk) WHERE NOT (c)-[:NEXT]-() RETURN c.uid", {}, [("c4",)]),
    ("MATCH (c:Chunk) WITH DISTINCT c.speaker AS who ORDER BY who SKIP 1 LIMIT 1 RETURN who", {},
     [("bob",)]),
]  # fmt: skip


def rows(query: str, parameters: dict[str, Any], limit: int = 1000) -> list[dict[str, Any]]:
    return run_on_graph(build_graph(NODES, EDGES), query, parameters, limit=limit, timeout=20)


def test_every_named_query_has_an_expectation() -> None:
    assert set(named_queries()) == set(EXPECTED)


@each("name", sorted(EXPECTED))
def test_named_query(name: str) -> None:
    query = named_query(name)
    found = rows(query.text, query.arguments(ARGUMENTS.get(name, {})))
    assert [tuple(row.values()) for row in found] == EXPECTED[name]
    assert all(tuple(row) == query.returns for row in found)


@pytest.mark.slow
@each(("query", "parameters", "expected"), SUBSET_QUERIES)
def test_subset(query: str, parameters: dict[str, Any], expected: list[tuple[Any, ...]]) -> None:
    assert [tuple(row.values()) for row in rows(query, parameters)] == expected


def test_columns_are_named_by_their_source() -> None:
    assert rows("MATCH (k:Key {uid: 'k1'}) RETURN k.name, count( * )", {}) == [
        {"k.name": "moving", "count( * )": 1}
    ]


def test_the_limit_applies_with_and_without_one_in_the_query() -> None:
    assert len(rows("MATCH (c:Chunk) RETURN c.uid", {}, limit=3)) == 3
    assert len(rows("MATCH (c:Chunk) RETURN c.uid ORDER BY c.uid LIMIT 9", {}, limit=3)) == 3
    assert len(rows("MATCH (c:Chunk) RETURN c.uid LIMIT 2", {}, limit=3)) == 2


@pytest.mark.parametrize(
    "value", ['"', "\\", "'", "a\nb\t\r\0", "\u2028\x85\x7f", "$x `(n)` //", "日本 🎉", "{\\u0041}"]
)
def test_any_text_can_be_a_parameter(value: str) -> None:
    graph = build_graph([NodeRow("a", "Key", {"name": value}), NodeRow("b", "Key", {})], [])
    for query in ("MATCH (k:Key {name: $v}) RETURN k", "MATCH (k) WHERE k.name = $v RETURN k"):
        found = run_on_graph(graph, query, {"v": value}, limit=5, timeout=20)
        assert found == [{"k": {"name": value, "uid": "a"}}]


@each(
    ("query", "message"),
    [
        ("MATCH (n) SET n.x = 1 RETURN n", "SET is not allowed"),
        ("MERGE (n) RETURN n", "MERGE is not allowed"),
        ("MATCH (n) CALL db.labels() RETURN n", "query cannot call procedures"),
        ("MATCH (n {space: 'other'}) RETURN n.uid", "leave 'space' out"),
        ("MATCH (n) RETURN n; MATCH (m) RETURN m", "a query must be a single statement"),
        ("MATCH (n) OPTIONAL MATCH (n)-->(m) RETURN m", "OPTIONAL is not supported on SQLite"),
        ("MATCH p = (n)-->(m) RETURN p", "named paths are not supported"),
        ("MATCH (n) RETURN m", "the name m is not known"),
        ("MATCH (n) RETURN size(collect(n))", "compute an aggregate in WITH first"),
        ("MATCH (n) WHERE n.x =~ 'a' RETURN n", "=~ is not supported"),
        ("MATCH (n) WHERE n.x = RETURN n", "a value is missing"),
        ("MATCH (n)-[*]->(m) RETURN n", "give a variable length bounds"),
        ("MATCH (n) RETURN count(n) + 1", "compute an aggregate in WITH first"),
        ("MATCH (n) RETURN CASE WHEN true THEN 1 END", "CASE is not supported on SQLite"),
        ("MATCH (n)-[r]->(m) MATCH (m)-[r]->(n) RETURN n", "the name r is already in use"),
        ("MATCH (n) RETURN n.x, n.x", "two columns have the same name"),
        ("MATCH (n) WITH n.x RETURN n", "a value in WITH needs a name"),
        ("MATCH (n) WITH n.x AS x RETURN n.y", "the name n is not known"),
        ("MATCH (n) RETURN labels(n)", r"the function labels\(\) is not supported"),
        ("MATCH (n) WHERE n.x = $missing RETURN n", r"parameter \$missing was not given"),
        ("MATCH (n) RETURN *", "name the columns"),
        ("MATCH (n) RETURN n.x LIMIT -1", "LIMIT takes a whole number"),
        (f"MATCH (n) RETURN n.x LIMIT {'9' * 5000}", "LIMIT takes a whole number below"),
        (f"MATCH (n) RETURN n.x SKIP {'9' * 20}", "SKIP takes a whole number below"),
        (f"MATCH (n)-[*1..{'9' * 5000}]->(m) RETURN n", "a variable length goes up to 10"),
        ("MATCH (n) RETURN id(n)", r"the function id\(\) is not supported"),
        ("MATCH (n) WHERE elementId(n) = 'x' RETURN n", r"elementId\(\) is not supported"),
        ("MATCH (n RETURN n", "is never closed"),
        ("MATCH (n)", "RETURN is missing"),
        ("MATCH (n) WHERE RETURN n", "nothing follows WHERE"),
        ("RETURN 1", "a query must start with MATCH"),
        ("", "the query is empty"),
    ],
)
def test_unsupported_queries_name_the_problem(query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        rows(query, {})


def test_an_error_shows_line_and_column() -> None:
    with pytest.raises(QueryError, match=r"line 2, column 8: .*\n  RETURN m\.uid\nOn SQLite a"):
        rows("MATCH (n)\nRETURN m.uid", {})


def test_unconnected_patterns_with_too_many_combinations_are_refused() -> None:
    graph = build_graph([NodeRow(str(n), "Chunk", {}) for n in range(60)], [])
    query, limits = "MATCH (a:Chunk), (b:Chunk) RETURN count(*)", QuerySettings(max_rows=2000)
    with pytest.raises(QueryError, match="more than 2,000 intermediate rows"):
        run_on_graph(graph, query, {}, limit=5, timeout=9, limits=limits)


@pytest.mark.slow
def test_a_query_is_stopped_at_its_timeout() -> None:
    nodes = [NodeRow(str(n), "Chunk", {}) for n in range(400)]
    edges = [EdgeRow(str(a), "NEXT", str(b)) for a in range(400) for b in range(a - 9, a) if b >= 0]
    query = "MATCH (a)-->(b)-->(c)-->(d)-->(e)-->(f) RETURN count(*)"
    with pytest.raises(QueryError, match=r"longer than 0\.3 s"):
        run_on_graph(build_graph(nodes, edges), query, {}, limit=5, timeout=0.3)


def test_intermediate_rows_are_bounded() -> None:
    graph = build_graph([NodeRow(str(n), "Chunk", {"x": n}) for n in range(60)], [])
    limits = QuerySettings(max_rows=50)
    query = "MATCH (n:Chunk) WITH n.x AS x ORDER BY x RETURN count(*) AS n"
    with pytest.raises(QueryError, match=r"more than 50 intermediate rows \(query\.max_rows\)"):
        run_on_graph(graph, query, {}, limit=5, timeout=5, limits=limits)
    assert run_on_graph(graph, query, {}, limit=5, timeout=5) == [{"n": 60}]
    few = run_on_graph(graph, "MATCH (n) RETURN n.x", {}, limit=5, timeout=5, limits=limits)
    assert len(few) == 5


def test_names_in_a_list_are_compared_by_type_too() -> None:
    graph = build_graph([NodeRow("a", "Key", {"name": "k0"}), NodeRow("b", "Key")], [])
    query = "MATCH (k:Key) WHERE k.name = 'other' OR k.name IN $names RETURN k.uid"
    assert run_on_graph(graph, query, {"names": ["k1"]}, limit=5, timeout=5) == []
    found = run_on_graph(graph, query, {"names": ["k0", 1, True]}, limit=5, timeout=5)
    assert found == [{"k.uid": "a"}]


def test_internal_properties_are_not_returned() -> None:
    graph = build_graph([NodeRow("a", "Key", {"name": "x", "embedding": [1.0], "seq": 7})], [])
    found = run_on_graph(graph, "MATCH (k:Key) RETURN k", {}, limit=5, timeout=5)
    assert found == [{"k": {"name": "x", "uid": "a"}}]


def test_an_edge_to_a_missing_node_is_an_error() -> None:
    with pytest.raises(ValueError, match="starts or ends at a node that is not in the graph"):
        build_graph([NodeRow("a", "Key")], [EdgeRow("a", "NEXT", "b")])


def test_arguments_of_named_queries_are_checked() -> None:
    hubs, about = named_query("hubs"), named_query("about")
    assert hubs.arguments({}) == {"top": 25}
    assert hubs.arguments({"top": 3}) == {"top": 3}
    with pytest.raises(QueryError, match=r"'about' needs the parameter entity.*entity: string"):
        about.arguments({})
    with pytest.raises(QueryError, match="has no parameter depth"):
        hubs.arguments({"depth": 3})
    with pytest.raises(QueryError, match="top of the query 'hubs' must be of type integer"):
        hubs.arguments({"top": True})
    with pytest.raises(QueryError, match="as_of of the query 'hubs' must be of type time"):
        hubs.arguments({"as_of": 2026})


def test_an_unknown_named_query_suggests_similar_names() -> None:
    with pytest.raises(NotFoundError, match="did you mean sessions-about"):
        named_query("session-about")


def test_headers_name_what_the_query_returns_and_takes() -> None:
    for name, query in named_queries().items():
        assert query.name == name
        assert query.what and query.what[0].islower()
        for parameter in query.parameters:
            assert parameter == AS_OF or f"${parameter.name}" in query.text
            # Space.cypher has parameters of these names itself.
            assert parameter.name not in ("name", "limit", "timeout", "query")
