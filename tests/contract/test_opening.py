"""Opening, closing and what a store remembers of itself, on every store."""

from __future__ import annotations

import pytest

from cognigraph import (
    AsyncMemory,
    ConfigurationError,
    EmbedderMismatchError,
    Memory,
    QueryError,
    StoreError,
)
from cognigraph.testing import HashEmbedder
from tests.conftest import START, OpenMemory


def test_another_embedder_is_refused_with_advice(open_memory: OpenMemory, space_name):
    open_memory().space(space_name).add("hello")
    with pytest.raises(EmbedderMismatchError, match=r"wordllama.*hash-64.*cognigraph reindex"):
        open_memory(embedder=HashEmbedder(64))


def test_a_closed_memory_says_so(open_memory: OpenMemory, space_name):
    memory = open_memory()
    memory.add("hello")
    memory.close()
    memory.close()
    with pytest.raises(StoreError, match="closed"):
        memory.search("hello")


def test_memory_itself_is_the_default_space(open_memory: OpenMemory, space_name):
    memory = open_memory()
    memory.add(f"about {space_name}", id=space_name, session=space_name)
    assert memory.name == "default"
    assert memory.get(space_name) == memory.space("default").get(space_name)


def test_space_names_are_checked(open_memory: OpenMemory):
    with pytest.raises(ValueError, match="space"):
        open_memory().space("")


def test_queries_that_write_are_refused(open_memory: OpenMemory, space_name):
    space = open_memory().space(space_name)
    space.add("hello", at=START)
    for query in (
        "CREATE (n:Chunk {uid: 'x'})",
        "MATCH (c:Chunk) SET c.text = 'x'",
        "MATCH (c:Chunk) DETACH DELETE c",
        "MERGE (n:Chunk {uid: 'x'}) RETURN n",
        "CALL dbms.components()",
        "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
        "this is not a query",
    ):
        with pytest.raises(QueryError):
            space.cypher(query)
    assert space.cypher("MATCH (c:Chunk) RETURN c.text AS text") == [{"text": "hello"}]
    with pytest.raises(ConfigurationError):
        space.cypher()


def test_cypher_takes_parameters_and_a_limit(open_memory: OpenMemory, space_name):
    space = open_memory().space(space_name)
    space.add_many({"text": f"t{n}", "id": f"m{n}", "session": f"s{n % 2}"} for n in range(6))
    rows = space.cypher(
        "MATCH (s:Session)-[:HAS_CHUNK]->(c:Chunk) WHERE s.id = $id RETURN s.id, count(c)", id="s1"
    )
    assert [list(row.values()) for row in rows] == [["s1", 3]]
    assert len(space.cypher("MATCH (c:Chunk) RETURN c.text", limit=4)) == 4


def test_check_finds_a_healthy_store(open_memory: OpenMemory, space_name):
    memory = open_memory()
    memory.space(space_name).add("hello")
    checks = memory.admin.check()
    assert checks
    assert [check.name for check in checks if not check.ok] == []
    assert memory.info.embedder.dimension == 256


async def _round_trip(location, space_name):
    async with AsyncMemory(**location, enrich="manual") as memory:
        space = memory.space(space_name)
        result = await space.add("I moved to Oslo.", id="m1", speaker="Ann")
        assert result.new == ("m1",)
        await space.flush(timeout=20)
        hits = await space.search("Where is Ann?")
        block = await space.context("Where is Ann?")
        rows = await space.cypher("MATCH (c:Chunk) RETURN c.message_id AS id")
        return [hit.id for hit in hits], str(block), rows, await memory.spaces()


@pytest.mark.slow
def test_the_async_memory_does_the_same(location, space_name):
    import asyncio

    found, block, rows, spaces = asyncio.run(_round_trip(location, space_name))
    assert found == ["m1"]
    assert "I moved to Oslo." in block
    assert rows == [{"id": "m1"}]
    assert space_name in spaces


def test_a_file_has_no_bookmarks(tmp_path):
    with Memory(tmp_path / "m.db", embedder=HashEmbedder(64), enrich="manual") as memory:
        memory.add("Ann lives in Oslo.")
        assert memory.admin.bookmarks() == ()
        memory.admin.catch_up(())
        with pytest.raises(StoreError, match="is a file, which has no bookmarks"):
            memory.admin.catch_up(["FB:kcwQ"])
