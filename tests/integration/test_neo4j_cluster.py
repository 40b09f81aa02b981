"""Which server of a cluster is asked, and after which bookmarks, with a scripted routing table."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from cognigraph import Memory, Settings, StorageSettings, StoreError
from tests.servers.cluster import Cluster
from tests.servers.neo4j_server import Server

pytestmark = [pytest.mark.neo4j, pytest.mark.oldest_line]

FOLLOWERS = StorageSettings(reads="followers")


@pytest.fixture
def cluster(neo4j_server: Server) -> Iterator[Cluster]:
    address = urlsplit(neo4j_server.uri)
    assert address.hostname is not None
    cluster = Cluster(address.hostname, address.port or 7687)
    try:
        yield cluster
    finally:
        cluster.close()


def opened(cluster: Cluster, server: Server, storage: StorageSettings) -> Memory:
    return Memory(
        cluster.uri, auth=server.auth, enrich="manual", settings=Settings(storage=storage)
    )


def test_followers_answer_searches_after_what_was_written(
    cluster: Cluster, neo4j_server: Server
) -> None:
    with opened(cluster, neo4j_server, FOLLOWERS) as memory:
        space = memory.space(f"test-{uuid4().hex[:12]}")
        space.add("Ann lives in Oslo.", id="m1")
        written = memory.admin.bookmarks()
        assert len(written) == 1
        assert {item.server for item in cluster.taken() if item.writes} == {"leader"}
        assert [hit.id for hit in space.search("Where does Ann live?")] == ["m1"]
        asked = cluster.taken()
        assert {(item.server, item.writes) for item in asked} == {("follower", False)}
        assert asked[0].after == written
        assert all(item.after for item in asked), "no read may see an older state"


def test_the_leader_answers_searches_unless_followers_are_asked_for(
    cluster: Cluster, neo4j_server: Server
) -> None:
    with opened(cluster, neo4j_server, StorageSettings()) as memory:
        space = memory.space(f"test-{uuid4().hex[:12]}")
        space.add("Ann lives in Oslo.", id="m1")
        assert [hit.id for hit in space.search("Where does Ann live?")] == ["m1"]
        assert {item.server for item in cluster.taken()} == {"leader"}
        assert space.cypher("MATCH (c:Chunk) RETURN c.message_id AS id") == [{"id": "m1"}]
        asked = cluster.taken()
        assert {(item.server, item.writes) for item in asked} == {("follower", False)}
        assert asked[0].after == memory.admin.bookmarks()


def test_bookmarks_are_handed_to_another_memory(cluster: Cluster, neo4j_server: Server) -> None:
    with (
        opened(cluster, neo4j_server, FOLLOWERS) as one,
        opened(cluster, neo4j_server, FOLLOWERS) as other,
    ):
        name = f"test-{uuid4().hex[:12]}"
        other.spaces()
        one.space(name).add("Ann lives in Oslo.", id="m1")
        written = one.admin.bookmarks()
        assert not set(written) & set(other.admin.bookmarks())
        cluster.taken()
        other.admin.catch_up(written)
        assert [(asked.server, set(written) <= set(asked.after)) for asked in cluster.taken()] == [
            ("follower", True)
        ]
        assert [hit.id for hit in other.space(name).search("Where does Ann live?")] == ["m1"]


def test_bookmarks_of_another_database_are_refused_and_spoil_nothing(
    cluster: Cluster, neo4j_server: Server
) -> None:
    with opened(cluster, neo4j_server, FOLLOWERS) as memory:
        space = memory.space(f"test-{uuid4().hex[:12]}")
        space.add("Ann lives in Oslo.", id="m1")
        with pytest.raises(StoreError, match="ookmark"):
            memory.admin.catch_up(["FB:nonsense"])
        assert [hit.id for hit in space.search("Where does Ann live?")] == ["m1"]
