"""A function that gives each space its database, on a server whose edition has one for users."""

from __future__ import annotations

from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from cognigraph import ConfigurationError, Memory, StoreError
from cognigraph.stores.neo4j.schema import migrations
from tests.servers.cluster import Cluster
from tests.servers.neo4j_server import Server

pytestmark = [pytest.mark.neo4j, pytest.mark.oldest_line]


def test_spaces_of_a_database_and_one_that_cannot_be_created(neo4j_server: Server) -> None:
    name = f"test-{uuid4().hex[:12]}"
    homes = {name: "Neo4j"}
    with Memory(
        neo4j_server.uri,
        auth=neo4j_server.auth,
        enrich="manual",
        database=lambda space: homes.get(space, "tenants-b"),
    ) as memory:
        memory.space(name).add("Ann lives in Oslo.", id="m1", session="s")
        assert [hit.id for hit in memory.space(name).search("Where does Ann live?")] == ["m1"]
        # What other tests left in the database belongs elsewhere, as this memory sees it.
        assert memory.spaces() == [name]
        assert memory.info.details["databases"] == "neo4j"
        assert memory.info.schema_version == migrations()[-1][0]
        assert memory.admin.waiting() == 1
        memory.flush()
        assert memory.space(name).stats().done == 1
        assert {check.name.partition(": ")[0] for check in memory.admin.check()} == {
            "neo4j",
            "vectors",
            "worker",
        }
        with pytest.raises(StoreError, match=r"has no database 'tenants-b'.* Community"):
            memory.space("other").add("Ben lives in Oslo.")
        homes["odd"] = "system"
        with pytest.raises(ConfigurationError, match="'system' cannot be the name"):
            memory.space("odd").search("Anything?")
        memory.admin.delete_space(name, by="root")
        assert memory.spaces() == []
    with Memory(
        neo4j_server.uri,
        auth=neo4j_server.auth,
        enrich="manual",
        database=lambda space: "neo4j" if space == name else "tenants-b",
    ) as memory:  # it has opened no database, and its last space is deleted
        log = memory.admin.audit(None)
        assert [(entry.space, entry.action, entry.by) for entry in log] == [
            (name, "delete space", "root")
        ]
    with pytest.raises(StoreError, match="closed"):
        memory.spaces()


def test_every_statement_names_its_database(neo4j_server: Server) -> None:
    address = urlsplit(neo4j_server.uri)
    assert address.hostname is not None
    cluster = Cluster(address.hostname, address.port or 7687)
    try:
        with Memory(
            cluster.uri, auth=neo4j_server.auth, enrich="manual", database=lambda _: "neo4j"
        ) as memory:
            assert {item.database for item in cluster.taken()} == {"system"}
            space = memory.space(f"test-{uuid4().hex[:12]}")
            space.add("Ann lives in Oslo.", id="m1")
            assert {item.database for item in cluster.taken() if item.writes} >= {"neo4j"}
            assert [hit.id for hit in space.search("Where does Ann live?")] == ["m1"]
            space.cypher("MATCH (c:Chunk) RETURN c.message_id AS id")
            assert {item.database for item in cluster.taken()} == {"neo4j"}
            written = memory.admin.bookmarks()
            assert {item.partition("=")[0] for item in written} == {"neo4j"}
            memory.admin.catch_up(written)
            assert space.name in memory.spaces()
    finally:
        cluster.close()
