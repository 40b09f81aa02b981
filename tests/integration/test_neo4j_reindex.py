"""Changing the embedder of a Neo4j database: properties, vector indexes, clean-up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from neo4j import Driver, GraphDatabase

from cognigraph import ConfigurationError, StoreError
from cognigraph.embed import CheckedEmbedder
from cognigraph.ingest.reindex import reindex
from cognigraph.settings import StorageSettings
from cognigraph.stores.candidates import CandidateQuery
from cognigraph.stores.neo4j import Neo4jStore
from cognigraph.stores.neo4j.index.vectors import index_name
from cognigraph.testing import HashEmbedder
from tests.contract.test_reindex import _empty
from tests.integration.test_neo4j_store import claim, derivation, message
from tests.servers.neo4j_server import Server

pytestmark = [pytest.mark.neo4j, pytest.mark.changes_indexes, pytest.mark.oldest_line]

OLD, NEW = CheckedEmbedder(HashEmbedder(256)), CheckedEmbedder(HashEmbedder(96))
SPACE = "big"


@pytest.fixture
def driver(neo4j_server: Server) -> Iterator[Driver]:
    location = {"location": neo4j_server.uri, "auth": neo4j_server.auth}
    _empty(location)
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        yield driver
    _empty(location)


def opened(server: Server, embedder: CheckedEmbedder | None) -> Neo4jStore:
    identity = None if embedder is None else embedder.identity
    return Neo4jStore(server.uri, identity, auth=server.auth, exact_up_to=20, notifications=True)


def vector_indexes(driver: Driver) -> dict[str, int]:
    rows, _, _ = driver.execute_query(
        "SHOW VECTOR INDEXES YIELD name, options "
        "RETURN name, options.indexConfig['vector.dimensions'] AS dimension"
    )
    return {row["name"]: row["dimension"] for row in rows}


def properties(driver: Driver) -> dict[str, int]:
    row = driver.execute_query(
        "MATCH (n) RETURN count(n.embedding) AS a, count(n.embedding_b) AS b"
    ).records[0]
    return {"embedding": row["a"], "embedding_b": row["b"]}


def packed(driver: Driver) -> dict[str, int]:
    row = driver.execute_query(
        "MATCH (n:Chunk|Fact|Theme) RETURN count(n) AS all, count(n.packed) AS a, "
        "count(n.packed_b) AS b"
    ).records[0]
    return {"all": row["all"], "packed": row["a"], "packed_b": row["b"]}


def filled(store: Neo4jStore) -> None:
    store.messages.insert(SPACE, [message(SPACE, n) for n in range(60)])
    while lease := claim(store, SPACE, limit=60):
        assert store.queue.complete(lease, derivation(lease))


def candidates_of(store: Neo4jStore, embedder: CheckedEmbedder) -> Any:
    vector = embedder.embed_query("said number 7")
    return store.search.candidates(
        SPACE, CandidateQuery(vector, chunks_by_vector=5, triples_by_vector=5)
    )


def test_big_spaces_get_their_indexes_before_the_switch(
    neo4j_server: Server, driver: Driver
) -> None:
    store = opened(neo4j_server, OLD)
    filled(store)
    chunk, triple = index_name("Chunk", SPACE), index_name("Triple", SPACE)
    assert {chunk: 256, triple: 256}.items() <= vector_indexes(driver).items()
    old_property = properties(driver)
    assert old_property["embedding_b"] == 0
    before: dict[str, Any] = {}
    switch_embed = NEW.embed

    class Watching:
        identity = NEW.identity
        calls = 0

        @staticmethod
        def embed(texts: list[str]) -> Any:
            before.update(vector_indexes(driver))
            return switch_embed(texts)

        embed_names = NEW.embed_names

    done = reindex(store, Watching)  # type: ignore[arg-type]
    (row,) = driver.execute_query("MATCH (n:Named) RETURN count(n) AS names").records
    # Names written by an older version have no vectors; they get them now.
    assert done.vectors == sum(old_property.values()) + row["names"]
    new_chunk = index_name("Chunk", SPACE, "embedding_b")
    assert new_chunk not in before, "made after the vectors, which is faster"
    after = vector_indexes(driver)
    assert after[new_chunk] == 96
    assert chunk not in after and triple not in after
    left = properties(driver)
    assert left["embedding"] == 0 and left["embedding_b"] == done.vectors
    store.close()

    fresh = opened(neo4j_server, NEW)
    found = candidates_of(fresh, NEW)
    rows, _, _ = driver.execute_query(
        "MATCH (n:Chunk {space: $space}) RETURN n.uid AS uid, n.text AS text, n.speaker AS speaker",
        space=SPACE,
    )
    vectors = NEW.embed([f"{row['speaker']}: {row['text']}" for row in rows])
    cosine = vectors @ NEW.embed_query("said number 7")
    by_uid = {row["uid"]: value for row, value in zip(rows, cosine.tolist(), strict=True)}
    own = [by_uid[uid] for uid in found.chunks.uids]
    np.testing.assert_allclose(found.chunks.cosine, own, atol=1e-5)
    # Which five is left to the index: it is approximate, and most of these vectors are equal.
    assert np.asarray(found.chunks.by_vector).sum() == 5
    assert all(check.ok for check in fresh.check())
    fresh.close()

    # And back: the property of the first embedder is filled again from the beginning. The process
    # dies after the switch and leaves work for the next.
    with_new = opened(neo4j_server, NEW)
    job = with_new.reindexing(OLD.identity)
    assert job.progress()[0] == 0
    while rows := job.waiting(50):
        job.write(rows, OLD.embed([row.text for row in rows]))
    job.switch(OLD.embed)
    with_new.close()  # before job.clean()
    assert properties(driver) == {"embedding": done.vectors, "embedding_b": done.vectors}
    back = opened(neo4j_server, OLD)
    near = CandidateQuery(OLD.embed_query("said number 7"), triples_by_vector=5)
    assert back.search.candidates(SPACE, near).triples.by_vector.sum() == 5
    assert reindex(back, OLD).vectors == 0
    back.close()
    assert properties(driver) == {"embedding": done.vectors, "embedding_b": 0}
    assert packed(driver)["packed"] == packed(driver)["all"] > 60
    assert packed(driver)["packed_b"] == 0
    assert vector_indexes(driver) == {chunk: 256, triple: 256}


def test_what_only_files_can_do(neo4j_server: Server, driver: Driver) -> None:
    from cognigraph import Memory, Settings

    with pytest.raises(StoreError, match="no memory in"):
        opened(neo4j_server, None)
    store = opened(neo4j_server, OLD)
    with pytest.raises(ConfigurationError, match="SQLite"):
        store.reindexing(NEW.identity, "float16")
    store.close()
    with pytest.raises(ConfigurationError, match="SQLite"):
        Memory(
            neo4j_server.uri, auth=neo4j_server.auth,
            settings=Settings(storage=StorageSettings(vectors="float16")),
        )  # fmt: skip
    taken = opened(neo4j_server, None)
    assert taken.info.embedder == OLD.identity
    taken.close()
