"""Every statement of the Neo4j store is planned on a real server, so that none can scan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

from cognigraph.cypher import catalog
from cognigraph.embed import CheckedEmbedder, resolve
from cognigraph.stores.neo4j import Neo4jStore
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.entity_map import _RULED
from cognigraph.stores.neo4j.forget import _STEPS
from cognigraph.stores.neo4j.index.few_chunks import _BY_MARKS, _BY_TIME
from cognigraph.stores.neo4j.index.sources import OF_MARKED
from cognigraph.stores.neo4j.queue import _OF_SPACE
from cognigraph.stores.neo4j.schema import commands, migrations
from cognigraph.stores.neo4j.statements import cypher, shortened, with_parameters
from tests.cases import each
from tests.servers.neo4j_server import Server

pytestmark = pytest.mark.neo4j

FOLDER = Path(catalog.__file__).parent / "neo4j"
MIGRATIONS = {name for _, name in migrations()}
STATEMENTS = sorted(
    path.relative_to(FOLDER).with_suffix("").as_posix()
    for path in FOLDER.rglob("*.cypher")
    if path.parent.name != "parts"
)
REFUSED = ("AllNodesScan", "CartesianProduct", "NodeByLabelScan", "AllRelationshipsScan")
SCANS_ON_PURPOSE = {"read/spaces", "read/imports"}
"""One small node per space, and all of them are wanted."""

UNKNOWN_TO_COMMUNITY = {"databases/create"}
NEVER_WHOLE = {"search/candidates"}
"""Sent without one of its layers, as the variants are."""

# Labels that the store substitutes for another one; the plans with them are checked too.
VARIANTS: dict[str, list[tuple[tuple[str, str], ...]]] = {
    "schema/unpacked": [((":Chunk", ":Fact"),)],
    "schema/pack": [((":Chunk", ":Theme"),)],
    "search/candidates": [
        *(
            shortened("search/candidates", "embedding", filters=used, keys=used, without=layer)
            for layer in ("chunks", "triples")
            for used in (True, False)
        ),
        (*shortened("search/candidates", "embedding", keys=False, without="triples"), OF_MARKED),
    ],
    "search/few_chunks": [_BY_TIME, _BY_MARKS],
    "vectors/label": [((":Chunk", ":Triple"),), ((":Chunk", ":Theme"),)],
    "listing/messages": [
        (("ASC", "DESC"), ("> $arrival", "< $arrival"), ("> $at", "< $at")),
        (
            ("Chunk(space, at, seq)", "Chunk(session_uid, at, seq)"),
            ("chunk.space = $space", "chunk.session_uid = $space"),
        ),
    ],
    "queue/oldest": [(("chunk.space > $after", "chunk.space = $space"),)],
    "queue/retry": [(_OF_SPACE,)],
    "queue/waiting": [(_OF_SPACE,)],
    "resolve/drop_pairs": [(_RULED,)],
    "resolve/write_pairs": [(_RULED,)],
    "remove/names": [(("entity:Entity", "entity:Alias"),)],
    "remove/nodes": [_STEPS[-1][1]],
    "reindex/indexed": [(("(owner:Space ", "(owner:SpaceFacts "),)],
    **{
        f"reindex/{name}": [
            ((":Chunk", f":{label}"),) for label in ("Triple", "Fact", "Key", "Theme", "Named")
        ]
        for name in ("clean", "count", "waiting", "write")
    },
}
CASES = [
    (name, replace)
    for name in STATEMENTS
    if name not in MIGRATIONS | UNKNOWN_TO_COMMUNITY
    for replace in [*([] if name in NEVER_WHOLE else [()]), *VARIANTS.get(name, [])]
]


@pytest.fixture(scope="module")
def driver(neo4j_server: Server) -> Iterator[Driver]:
    embedder = CheckedEmbedder(resolve("wordllama")).identity
    Neo4jStore(neo4j_server.uri, embedder, auth=neo4j_server.auth).close()
    with GraphDatabase.driver(
        neo4j_server.uri,
        auth=neo4j_server.auth,
        notifications_disabled_classifications=["UNRECOGNIZED"],
    ) as driver:
        yield driver


def _explain(text: str) -> str:
    language, _, body = text.partition("\n")
    return f"{language} EXPLAIN {body}"


def _samples(text: str) -> dict[str, Any]:
    """Some value for each parameter: a missing one would be a notification."""
    numbers = {"limit", "skip", "fetch", "seconds", "version", "dimension", "generation"}
    return {name: 1 if name in numbers else None for name in set(re.findall(r"\$(\w+)", text))}


def _operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].split("@")[0]
    for child in plan.get("children", []):
        yield from _operators(child)


@pytest.mark.timeout(600)
@each(("name", "replace"), CASES, ids=[str(case)[:160] for case in CASES])
def test_plans_by_indexes_only(
    driver: Driver, name: str, replace: tuple[tuple[str, str], ...]
) -> None:
    plain = cypher(name, *replace)
    text, parameters = with_parameters(plain, _samples(plain))
    with driver.session() as session:
        summary = session.run(_explain(text), parameters).consume()
    refused = () if name in SCANS_ON_PURPOSE else REFUSED
    if summary.plan is not None:  # schema commands have none
        assert not set(_operators(summary.plan)) & set(refused)
    notes = [str(s.status_description) for s in summary.gql_status_objects if s.is_notification]
    assert not notes


@pytest.mark.every_line
@each("name", sorted(MIGRATIONS))
def test_migrations_can_be_repeated(driver: Driver, name: str) -> None:
    with driver.session() as session:
        for command in commands(name):
            summary = session.run(command).consume()
            assert not summary.counters.indexes_added, command
            assert not summary.counters.constraints_added, command


@each("name", STATEMENTS)
def test_header_says_what_it_is_for(name: str) -> None:
    assert (FOLDER / f"{name}.cypher").read_text("utf-8").startswith("// what: ")


@pytest.mark.changes_indexes
def test_one_plan_serves_values_of_all_types_and_lengths(
    driver: Driver, neo4j_server: Server
) -> None:
    """Marked like the tests that change indexes, because it drops all plans, to count them."""
    at = datetime(2026, 5, 20, tzinfo=UTC)
    with closing(Connection(neo4j_server.uri, neo4j_server.auth, None)) as connection:

        def list_triples(until: datetime | None, slot: str | None, sessions: list[str]) -> None:
            where = None if until is None else {"sessions": sessions}
            unused = dict.fromkeys(("status", "text", "valid_at", "valid_micros"))
            page = {"space": "s", "skip": 0, "limit": 5}
            connection.rows("read/triples", **page, **unused, until=until, slot=slot, where=where)
            connection.rows("read/triples_by_uid", space="s", uids=sessions)

        def plans_of(*calls: tuple[Any, ...]) -> str:
            driver.execute_query("CALL db.clearQueryCaches()")
            for call in calls:
                list_triples(*call)
            (row,) = driver.execute_query("CALL db.clearQueryCaches()").records
            return str(row["value"])

        kinds = [(None, None, []), (at, None, ["a"]), (None, "value|age", ["a"] * 2000)]
        assert plans_of(*kinds) == plans_of(kinds[1])
