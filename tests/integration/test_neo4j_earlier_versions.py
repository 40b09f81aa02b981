"""Databases that earlier versions of cognigraph wrote are opened, and hold what they held.

``tests/data/graphs/stepN.json.gz`` has the nodes and relationships that the code whose schema was
at step N wrote to a real server: the messages of ``tests/data/files``. ``-near`` are of an early
step 5, which compared the names of entities by blocks of similar vectors.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

from cognigraph import Memory
from cognigraph.stores.neo4j.tokens import having_marks
from cognigraph.testing import FrozenClock, HashEmbedder, ScriptedExtractor
from tests.conftest import START
from tests.contract import first_schema, test_migration
from tests.earlier_versions import NOW, goes_on, holds_the_sample, holds_what_version_8_holds
from tests.servers.neo4j_server import Server

pytestmark = [pytest.mark.neo4j, pytest.mark.changes_indexes, pytest.mark.oldest_line]

GRAPHS = Path(__file__).parents[1] / "data" / "graphs"
META = "CogniGraph"

REPLACED = {
    "CREATE RANGE INDEX `chunk_queue` FOR (n:`Chunk`) ON (n.`state`, n.`seq`)",
    "CREATE RANGE INDEX `chunk_queue_of_space` FOR (n:`Chunk`) ON (n.`space`, n.`state`, n.`seq`)",
}
"""Indexes that a later version drops, because ``chunk_queue_by_space`` serves for both."""


def value(plain: Any) -> Any:
    """A property from its JSON."""
    if isinstance(plain, dict):
        if "time" in plain:
            return datetime.fromisoformat(plain["time"].replace("000000+", "000+"))
        return bytes.fromhex(plain["bytes"])
    return [value(item) for item in plain] if isinstance(plain, list) else plain


def properties(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: value(item) for name, item in plain.items()}


def load(driver: Driver, graph: dict[str, Any]) -> None:
    """Write a graph beside other data; the node that describes the database takes its place."""
    with driver.session() as session:
        session.run(f"MATCH (meta:{META}) DELETE meta").consume()
        alike: defaultdict[str, list[int]] = defaultdict(list)
        for number, (labels, _) in enumerate(graph["nodes"]):
            alike[":".join(labels)].append(number)
        ids: dict[int, str] = {}
        for label, numbers in alike.items():
            text: Any = f"UNWIND $rows AS own CREATE (n:{label}) SET n = own RETURN elementId(n)"
            rows = [properties(graph["nodes"][number][1]) for number in numbers]
            ids |= zip(numbers, session.run(text, rows=rows).value(), strict=True)
        of_type: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for start, type, end, plain in graph["relationships"]:
            of_type[type].append({"a": ids[start], "b": ids[end], "own": properties(plain)})
        for type, ends in of_type.items():
            text = (
                "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row.a "
                "MATCH (b) WHERE elementId(b) = row.b "
                f"CREATE (a)-[new:{type}]->(b) SET new = row.own"
            )
            session.run(text, rows=ends).consume()


def shape(create: str) -> str:
    """What an index or constraint is on, without its options."""
    return create.partition(" OPTIONS")[0]


def marked(driver: Driver, space: str, mark: str) -> list[str]:
    """Ids of the messages with a tag or a field, as the full-text index finds them."""
    rows = driver.execute_query(
        "CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh() "
        "CALL db.index.fulltext.queryNodes('chunk_lexemes', $query) YIELD node "
        "RETURN node.message_id ORDER BY node.message_id",
        query=having_marks(space, [mark]),
    ).records
    return [row[0] for row in rows]


@pytest.fixture
def driver(neo4j_server: Server) -> Iterator[Driver]:
    """A driver; what the shared server says of its embedder is restored afterwards."""
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        metas = driver.execute_query(f"MATCH (meta:{META}) RETURN properties(meta)").records
        yield driver
        driver.execute_query(
            f"MATCH (meta:{META}) DELETE meta WITH count(*) AS _ "
            f"UNWIND $metas AS own CREATE (meta:{META}) SET meta = own",
            metas=[row[0] for row in metas],
        )


RESOLVED, UNREAD, SPOKEN = "resolved", "unread", "spoken"
"""Spaces as ``tests/contract/test_migration.py`` writes them, migrated with the graph of step 1."""

OTHERS = [
    pytest.param(step, marks=pytest.mark.thorough)
    for step in ("2", "3", "4", "5-near", "6-near", "6", "7")
]
"""They pass through the same migrations, after each of which a server plans its statements anew."""


@pytest.mark.parametrize("step", ["1", "8", *OTHERS])
def test_a_database_of_an_earlier_version_holds_what_it_held(
    driver: Driver, neo4j_server: Server, step: str
) -> None:
    graph = json.loads(gzip.decompress((GRAPHS / f"step{step}.json.gz").read_bytes()))
    old: Any = {"location": neo4j_server.uri, "auth": neo4j_server.auth}
    if step == "1":
        for name in (RESOLVED, UNREAD, SPOKEN):
            first_schema.neo4j(neo4j_server.uri, neo4j_server.auth, name)
        test_migration.leave_unread(old, UNREAD, test_migration.UNREAD)
        test_migration.name_speakers(old, SPOKEN)
    load(driver, graph)
    with Memory(
        neo4j_server.uri,
        auth=neo4j_server.auth,
        embedder=HashEmbedder(32),
        enrich="manual",
        clock=FrozenClock(NOW),
    ) as memory:
        space = memory.space(graph["space"])
        unpacked = driver.execute_query(
            "MATCH (n:Chunk|Fact|Theme {space: $space}) RETURN n.packed IS NULL, count(n)",
            space=space.name,
        ).records
        assert [(row[0], row[1] > 0) for row in unpacked] == [(False, True)]
        if step == "8":
            holds_what_version_8_holds(memory, space)
            assert marked(driver, space.name, "#boats") == ["m5"]
            assert marked(driver, space.name, '"n"=1') == ["m5"]
            assert marked(driver, "other", "#boats") == []
        else:
            holds_the_sample(memory, space)
            goes_on(memory, space)
        if step == "1":
            test_migration.has_roles(memory.space(SPOKEN))
        memory.admin.delete_space(space.name)
        left = driver.execute_query(
            "MATCH (node) WHERE node.space = $space OR node.name = $space RETURN labels(node)",
            space=space.name,
        )
        assert left.records == []
    now = [
        row[0]
        for kind in ("CONSTRAINTS", "INDEXES")
        for row in driver.execute_query(
            f"SHOW {kind} YIELD createStatement RETURN createStatement"  # type: ignore[arg-type]
        ).records
    ]
    assert set(map(shape, graph["schema"])) - REPLACED <= set(map(shape, now))
    assert REPLACED.isdisjoint(map(shape, now))
    if step == "1":
        test_migration.is_resolved(old, RESOLVED, FrozenClock(START), ScriptedExtractor())
        test_migration.queues_the_summary(old, UNREAD, FrozenClock(START))
