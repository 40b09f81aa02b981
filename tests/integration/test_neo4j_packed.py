"""What ranking needs of a node is one property of bytes; nodes without it are found alike."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from neo4j import Driver, GraphDatabase

from cognigraph import Memory
from cognigraph.stores.candidates import CandidateQuery
from cognigraph.stores.neo4j.index.packed import pack_all, packed_of_values, unpacked_properties
from cognigraph.testing import FrozenClock
from tests.integration.test_neo4j_store import (
    EMBEDDER,
    START,
    Open,
    claim,
    derivation,
    message,
    open_store,
    space,
    unit,
)
from tests.servers.neo4j_server import Server

pytestmark = [pytest.mark.neo4j, pytest.mark.oldest_line]

__all__ = ["open_store", "space"]
NODES = "MATCH (n:Chunk|Fact|Theme {space: $space}) "


@pytest.fixture
def driver(neo4j_server: Server) -> Iterator[Driver]:
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        yield driver


def packed_as_read(driver: Driver, space: str) -> int:
    """How many nodes of a space have what their properties say, packed; they must all."""
    rows = driver.execute_query(
        NODES + "RETURN n.packed AS packed, [name IN $names | n[name]] AS values",
        space=space,
        names=unpacked_properties("embedding"),
    ).records
    for row in rows:
        assert row["packed"] == packed_of_values(row["values"], EMBEDDER.dimension)
    return len(rows)


def test_nodes_that_are_not_packed_are_found_alike(
    open_store: Open, driver: Driver, space: str
) -> None:
    store = open_store()
    store.messages.insert(space, [message(space, n) for n in range(30)])
    while lease := claim(store, space):
        assert store.queue.complete(lease, derivation(lease))
    question = CandidateQuery(
        unit(1)[0], terms=("appl", "river"), anchors=("ann",), entity_vectors=tuple(unit(2)),
        chunks_by_vector=5, chunks_by_terms=5, triples_by_vector=5, triples_by_terms=5,
        triples_per_anchor=5, sessions_by_vector=3, radius=2,
    )  # fmt: skip
    before = store.search.candidates(space, question)
    driver.execute_query(NODES + "WHERE n.seq % 2 = 0 REMOVE n.packed", space=space)
    mixed = store.search.candidates(space, question)
    driver.execute_query(NODES + "REMOVE n.packed", space=space)
    after = store.search.candidates(space, question)
    assert before.chunks.by_terms.sum() == 5 and before.triples.by_vector.sum() == 5
    for found in (mixed, after):
        for name in ("chunks", "triples", "sessions"):
            one, other = getattr(before, name), getattr(found, name)
            assert one.uids == other.uids
            np.testing.assert_array_equal(one.matches, other.matches)
            np.testing.assert_array_equal(one.length, other.length)
        np.testing.assert_allclose(before.chunks.cosine, found.chunks.cosine, atol=1e-6)
        np.testing.assert_allclose(before.sessions.theme, found.sessions.theme, atol=1e-6)
        np.testing.assert_array_equal(before.chunks.following, found.chunks.following)
        np.testing.assert_array_equal(before.chunks.previous, found.chunks.previous)
        np.testing.assert_array_equal(before.chunks.at, found.chunks.at)
        assert before.chunks.speakers == found.chunks.speakers
    pack_all(store._connection, "embedding", EMBEDDER.dimension)
    assert packed_as_read(driver, space) == 61


def test_all_that_writes_text_packs_it(neo4j_server: Server, driver: Driver, space: str) -> None:
    with Memory(
        neo4j_server.uri, auth=neo4j_server.auth, enrich="manual", clock=FrozenClock(START)
    ) as memory:
        own = memory.space(space)
        for number, text in enumerate(
            ("I live in Oslo.", "I bought a red bicycle.", "i live in oslo.", "My dog is Rex.")
        ):
            own.add(text, speaker="Ann", at=START, session="s", id=f"m{number}")
        own.flush()
        assert packed_as_read(driver, space) >= 6
        own.update("m1", "I sold the bicycle. " + "It was old and slow. " * 400, session="s")
        own.flush()
        own.forget(message="m0", session="s")
        own.queue.redo()
        own.flush()
        assert packed_as_read(driver, space) >= 6
        assert own.search("Where does Ann live?").hits[0].id == "m2"
