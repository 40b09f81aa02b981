"""A hostile query is refused or stopped with a clear error, on every store, and soon."""

from __future__ import annotations

import time

import pytest

from cognigraph import ConfigurationError, QueryError, QuerySettings, Settings
from tests.cases import each
from tests.conftest import OpenMemory

SOON = 60.0
"""Seconds: many times what any of these takes, and less than the faults took together."""

ANDS = " AND ".join(f"n.text <> 'a{number}'" for number in range(5000))
HOSTILE = {
    "ands": (f"MATCH (n:Chunk) WHERE {ANDS} RETURN n.uid", {}, "characters, over"),
    "short ands": (
        "MATCH (n) WHERE " + " AND ".join(["n.x"] * 500) + " RETURN n.uid", {}, "AND, OR, XOR",
    ),
    "long literal": (
        f"MATCH (n) WHERE n.text = '{'x' * 5_000_000}' RETURN n.uid", {}, "characters, over",
    ),
    "parentheses": (
        "MATCH (n) WHERE " + "(" * 2000 + "n.x = 1" + ")" * 2000 + " RETURN n.uid", {}, "tokens",
    ),
    "negations": ("MATCH (n) WHERE " + "NOT " * 2500 + "n.x = 1 RETURN n.uid", {}, "NOT and"),
    "lists": ("MATCH (n) WHERE n.x IN " + "[" * 900 + "]" * 900 + " RETURN n", {}, "30 brackets"),
    "sums": ("MATCH (n) RETURN n.uid AS u, " + "+".join(["n.x"] * 250), {}, "arithmetic signs"),
    "properties": ("MATCH (n) RETURN n" + ".a" * 250, {}, "chained steps"),
    "clauses": (" ".join(["MATCH (n)"] * 600) + " RETURN n.uid", {}, "clauses, over"),
    "unions": (" UNION ".join(["MATCH (n) RETURN n.uid"] * 300), {}, "clauses, over"),
    "names": (f"MATCH ({'n' * 200_000}) RETURN 1", {}, "characters, over"),
    "literals": ("MATCH (n) WHERE n.x IN [" + "1," * 5000 + "1] RETURN n", {}, "tokens, over"),
    "many values": ("MATCH (n) WHERE n.x IN $p RETURN n", {"p": [0] * 300_000}, "values, over"),
    "long value": ("MATCH (n) WHERE n.x = $p RETURN n", {"p": "x" * 11_000_000}, "acters, over"),
    "many keys": ("MATCH (n) RETURN n", {"p": dict.fromkeys(range(200_000))}, "values, over"),
}  # fmt: skip


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.fixture
def space(open_memory: OpenMemory, space_name: str):
    space = open_memory().space(space_name)
    space.add("I moved to Oslo in May.", id="m0", session="s0", speaker="Ann")
    return space


@pytest.mark.slow
def test_hostile_queries_are_refused_at_once(space) -> None:
    for name, (query, parameters, limit) in HOSTILE.items():
        started = time.monotonic()
        with pytest.raises(QueryError, match=limit) as caught:
            space.cypher(query, parameters=parameters)
        assert time.monotonic() - started < SOON, name
        assert len(str(caught.value)) < 1500, name


@pytest.mark.slow
@pytest.mark.parametrize("levels", [50, 100_000])
@pytest.mark.above_stores
def test_deep_parameters_are_refused(space, levels: int) -> None:
    with pytest.raises(QueryError, match="more than 20 levels deep"):
        space.cypher("MATCH (n) WHERE n.x = $p RETURN n.uid", p=nested(levels))


@pytest.mark.above_stores
def test_a_value_that_contains_itself_is_refused(space) -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(QueryError, match="more than 20 levels deep"):
        space.cypher("MATCH (n) WHERE n.x = $p RETURN n.uid", p=value)


@pytest.mark.slow
def test_a_hundred_thousand_values_are_searched_soon(space) -> None:
    values = [f"x{number}" for number in range(100_000)]
    query = "MATCH (n:Chunk) WHERE n.message_id IN $p RETURN n.message_id AS id"
    started = time.monotonic()
    assert space.cypher(query, p=[*values, "m0"]) == [{"id": "m0"}]
    assert time.monotonic() - started < SOON


def test_the_result_is_bounded(open_memory: OpenMemory, space_name: str) -> None:
    limits = QuerySettings(max_result_chars=1000)
    space = open_memory(settings=Settings(query=limits)).space(space_name)
    space.add_many({"text": "word " * 30, "id": f"m{n}", "session": "s"} for n in range(10))
    query = "MATCH (c:Chunk) RETURN c.text AS text"
    with pytest.raises(QueryError, match="max_result_chars"):
        space.cypher(query)
    assert len(space.cypher(query, limit=2)) == 2


@each(
    "arguments",
    [
        {"timeout": float("nan")},
        {"timeout": float("inf")},
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": True},
        {"timeout": "3"},
        {"limit": -1},
        {"limit": 2**63},
        {"limit": 1.5},
        {"limit": True},
    ],
)
@pytest.mark.above_stores
def test_invalid_limits_are_refused(space, arguments) -> None:
    with pytest.raises(ConfigurationError, match=r"^(timeout|limit) must be"):
        space.cypher("MATCH (n) RETURN n.uid", **arguments)
