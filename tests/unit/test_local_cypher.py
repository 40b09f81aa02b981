"""What of a SQLite memory a Cypher query reads, and names in it that no memory has."""

from __future__ import annotations

import logging

import pytest

from cognigraph import Memory
from cognigraph.cypher.guard.unknown_names import LABELS, TYPES, unknown_names
from cognigraph.cypher.local.run_locally import Needed, translate
from cognigraph.stores.sqlite import cypher

QUERIES = {
    "MATCH (c:Chunk) RETURN count(c) AS n": ({"Chunk"}, False),
    "MATCH (c:Chunk {speaker: 'Ann'}) WHERE c.part = 0 RETURN c.message_id": ({"Chunk"}, False),
    "MATCH (s:Session)-[:HAS_CHUNK]->(c:Chunk) RETURN s.id, c.text": ({"Session", "Chunk"}, True),
    "MATCH (t:Triple)-[:SUBJECT]->(e:Entity) WITH e.name AS name, count(t) AS n "
    "RETURN name, n ORDER BY n DESC": ({"Triple", "Entity"}, True),
    "MATCH (a:Chunk)-[:NEXT*1..2]->(b:Chunk) RETURN a.message_id, b.message_id": (None, True),
    "MATCH (n) RETURN count(n) AS n": (None, False),
    "MATCH (t:Triple)-[r]->(n) RETURN t.object, n.name": (None, True),
    "MATCH (s:Session), (k:Key) RETURN s.id, k.name": ({"Session", "Key"}, False),
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    path = tmp_path_factory.mktemp("cypher") / "ann.db"
    with Memory(path, enrich="manual") as memory:
        for number, text in enumerate(("I live in Oslo.", "I like jazz.", "My sister is Klara.")):
            memory.add(text, id=f"m{number}", session=f"s{number % 2}", speaker="Ann",
                       at=f"2026-05-2{number}T09:00:00Z")  # fmt: skip
        memory.flush()
        yield memory


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_on_a_part_of_the_graph_finds_the_same(memory, monkeypatch, query):
    labels, relationships = QUERIES[query]
    assert translate(query, {}).needed == Needed(labels and frozenset(labels), relationships)
    found = memory.cypher(query)
    everything = Needed(None, relationships=True)
    export = cypher.export_graph
    monkeypatch.setattr(cypher, "export_graph", lambda *given: export(*given[:2], everything))
    assert found and sorted(map(str, found)) == sorted(map(str, memory.cypher(query)))


def test_names_that_no_memory_has_are_reported(memory, caplog):
    assert unknown_names("MATCH (c:Chnk)-[:NEXTT]->(d:Chunk {a: 1}) WHERE d:Sesion RETURN c") == [
        "no memory has the label Chnk; did you mean Chunk?",
        "no memory has the relationship type NEXTT; did you mean NEXT?",
        "no memory has the label Sesion; did you mean Session?",
    ]
    assert unknown_names("MATCH (t:Triple)-[:SUBJECT|OBJECT]->(e:Entity) RETURN {x: t.uid}") == []
    for query in (
        "MATCH (c:Chunk) RETURN [x IN c.tags | toUpper(x)], [x IN c.tags | x + 1]",
        "MATCH (c:Chunk) RETURN c.text||c.speaker, [(c)-->(d:Chunk|Key) | d.text]",
        "RETURN reduce(a = 0, x IN [1] | a + x)",
    ):
        assert unknown_names(query) == []
    assert len(unknown_names("MATCH (c:Chunk|Chnk)-[:NEXT|NEXTT|:NEXTTT]->() RETURN c")) == 3
    assert unknown_names("MATCH (c:Chunk") == unknown_names("'") == []
    with caplog.at_level(logging.WARNING, "cognigraph.cypher"):
        assert memory.cypher("MATCH (c:Chunkk) RETURN c") == []
    assert "no memory has the label Chunkk; did you mean Chunk?" in caplog.text


def test_the_names_are_those_of_the_graph():
    assert cypher._NODES.keys() <= LABELS
    assert cypher._EDGES.keys() <= TYPES
