"""A database of an older schema is migrated, and its entities are resolved."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from cognigraph import EnrichSettings, Memory, Settings
from cognigraph.ingest import Fact
from cognigraph.ingest.model.extractor import ModelExtractor
from cognigraph.resolution.name_forms import order
from cognigraph.stores.neo4j import schema as neo4j
from cognigraph.stores.sqlite import schema as sqlite
from cognigraph.testing import HashEmbedder, ScriptedModel
from tests.conftest import START
from tests.contract import first_schema

# On Neo4j, test_neo4j_earlier_versions.py asks the same: a server plans anew after each migration.
pytestmark = [
    pytest.mark.above_stores, pytest.mark.changes_indexes, pytest.mark.oldest_line
]  # fmt: skip

NEWEST = {"sqlite": sqlite.migrations()[-1][0], "neo4j": neo4j.migrations()[-1][0]}


@pytest.fixture(params=[1, 2, 3])
def old(location, space_name, request):
    if "auth" in location:
        # The server is shared and records the name of an embedder, which is restored afterwards.
        from neo4j import GraphDatabase

        with GraphDatabase.driver(location["location"], auth=location["auth"]) as driver:
            meta = driver.execute_query(
                "OPTIONAL MATCH (m:CogniGraph {uid: 'cognigraph'}) RETURN properties(m)"
            ).records[0][0]
        first_schema.neo4j(location["location"], location["auth"], space_name, request.param)

        def restore():
            with GraphDatabase.driver(location["location"], auth=location["auth"]) as driver:
                driver.execute_query(
                    "MATCH (m:CogniGraph {uid: 'cognigraph'}) DELETE m "
                    "FOREACH (old IN CASE WHEN $meta IS NULL THEN [] ELSE [$meta] END | "
                    "CREATE (n:CogniGraph) SET n = old)",
                    meta=meta,
                )

        request.addfinalizer(restore)
    else:
        first_schema.sqlite(str(location["location"]), space_name, request.param)
    return location


UNREAD = '[["2026-05-20T09:00:00+00:00","Ann","I moved to Oslo."]]'
SPEAKERS = {"m0": "User", "m1": " assistant", "m2": "Ben"}
ROLES = {"m0": "user", "m1": "assistant", "m2": None}


def change(old, on_neo4j, on_sqlite, **values):
    """Change what the old database holds: a statement of Neo4j, and several of SQLite."""
    if "auth" in old:
        from neo4j import GraphDatabase

        with GraphDatabase.driver(old["location"], auth=old["auth"]) as driver:
            driver.execute_query(on_neo4j, **values)
    else:
        with closing(sqlite3.connect(old["location"])) as db, db:
            for statement in on_sqlite:
                db.execute(statement, values)


def leave_unread(old, space_name, unread):
    """Let the session of a space have turns that are not in its summary yet."""
    change(
        old,
        "MATCH (s:Session {space: $space}) SET s.state = $state",
        ["UPDATE session SET state = :state"],
        space=space_name,
        state=f'{{"model":1,"unread":{unread},"known":[],"extractive":true}}',
    )


def queues_the_summary(old, space_name, clock, due=1):
    theme = {"title": "Move", "summary": "Ann moved to Oslo."}
    model = ScriptedModel([{"keys": [], "themes": [theme]}])
    options = {"embedder": HashEmbedder(32), "clock": clock, "enrich": "manual"}
    with Memory(**old, **options, extractor=ModelExtractor(model)) as memory:
        space = memory.space(space_name)
        assert (space.stats().summaries_pending, space.queue.failures()) == (due, [])
        assert [(step.chunks, step.error) for step in space.queue.enrich()] == [(0, None)] * due
        assert space.stats().summaries_pending == 0
        assert [s.summary for s in space.overview.sessions()] == ["Move: Ann moved to Oslo." * due]


def name_speakers(old, space_name):
    for id, speaker in SPEAKERS.items():
        change(
            old,
            "MATCH (c:Chunk {space: $space, message_id: $id}) SET c.speaker = $speaker",
            [
                f"UPDATE {table} SET speaker = :speaker WHERE {key} = "
                "(SELECT id FROM chunk WHERE message_id = :id)"
                for table, key in (("chunk", "id"), ("chunk_index", "chunk_id"))
            ],
            space=space_name,
            id=id,
            speaker=speaker,
        )


def has_roles(space):
    found = {id: space.get(id) for id in ROLES}
    assert {id: message.role for id, message in found.items()} == ROLES
    assert found["m0"].speaker == "User"
    assert (found["m0"].metadata, found["m0"].tags, found["m0"].raw) == ({}, (), None)
    rows = space.cypher("MATCH (c:Chunk) RETURN c.message_id AS id, c.role AS role")
    assert {row["id"]: row["role"] for row in rows} == ROLES


def is_resolved(old, space_name, clock, extractor):
    """Check entities and facts of the space, and that it goes on."""
    for _ in range(2):
        with Memory(
            **old, embedder=HashEmbedder(32), clock=clock, extractor=extractor, enrich="manual"
        ) as memory:
            assert memory.info.schema_version == NEWEST[memory.info.kind]
            space = memory.space(space_name)
            assert {(e.name, e.aliases, e.triples, e.mentions) for e in space.entities()} == {
                ("Anna Berg", ("Anna",), 2, 2),
                ("Ben", (), 1, 1),
                ("kayak", (), 1, 0),
                ("dog", ("dogs",), 2, 0),
            }
            assert {(t.text, tuple(s.id for s in t.sources)) for t in space.facts()} == {
                ("Anna Berg bought kayak", ("m1", "m0")),
                ("Anna Berg likes dog", ("m1",)),
                ("Ben has dog", ("m2",)),
            }
            result = space.search("What did Anna buy?", now=START + timedelta(days=1))
            assert "Anna Berg" in result.trace.anchors
    with Memory(
        **old, embedder=HashEmbedder(32), clock=clock, extractor=extractor, enrich="manual"
    ) as memory:
        space = memory.space(space_name)
        space.add("More.", id="m9", session="s", at=START + timedelta(hours=1))
        extractor.script({"m9": [Fact("Anna", "person", "bought", "kayak", "object", (0,))]})
        space.flush()
        kayak = next(t for t in space.facts("Anna") if t.object == "kayak")
        assert [source.id for source in kayak.sources] == ["m9", "m1", "m0"]
        assert kayak.last_observed == START + timedelta(hours=1)
        space.review.split("Anna")
        assert {t.text for t in space.facts("Anna")} == {"Anna bought kayak"}
        assert [len(t.sources) for t in space.facts("Anna")] == [2]


@pytest.mark.slow
def test_a_database_of_an_older_schema(old, space_name, clock, extractor):
    is_resolved(old, space_name, clock, extractor)


@pytest.mark.parametrize("old", [4], indirect=True)
@pytest.mark.parametrize(("unread", "due"), [(UNREAD, 1), ("[]", 0)])
def test_a_migration_queues_summaries_that_lacked_turns(old, space_name, unread, due, clock):
    leave_unread(old, space_name, unread)
    queues_the_summary(old, space_name, clock, due)


@pytest.mark.slow
def test_evidence_from_an_older_version_keeps_the_canonical_spelling(tmp_path, clock, extractor):
    path = str(tmp_path / "old.db")
    first_schema.sqlite(path, "x", 6)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "UPDATE entity SET name = 'Kayak', spelled = ? WHERE name = 'kayak'",
            (order(START, "Kayak"),),
        )
    extractor.script({"m1": [Fact("Anna Berg", "person", "bought", "KAYAK", "object", (0,))]})
    options = {"embedder": HashEmbedder(32), "clock": clock, "enrich": "manual"}
    settings = Settings(enrich=EnrichSettings(batch=1))
    with Memory(path, **options, extractor=extractor, settings=settings) as memory:
        space, engine = memory.space("x"), memory._engine
        names = []
        assert engine.store.queue.redo("x", ["x"]) == 3
        for _ in range(3):
            engine.enricher.step("x")
            names.append({e.name for e in space.entities()} & {"kayak", "Kayak", "KAYAK"})
        # The chunk that gave the spelling no longer does, so the next chunk's spelling is used.
        assert names == [{"Kayak"}, {"KAYAK"}, {"KAYAK"}]


@pytest.mark.slow
@pytest.mark.parametrize("old", [7], indirect=True)
def test_messages_of_an_older_schema_get_the_role_that_their_speaker_is_called_by(
    old, space_name, clock, extractor
):
    name_speakers(old, space_name)
    for _ in range(2):
        with Memory(
            **old, embedder=HashEmbedder(32), clock=clock, extractor=extractor, enrich="manual"
        ) as memory:
            space = memory.space(space_name)
            has_roles(space)
            if "auth" not in old:  # there the old chunks have no vectors and no words
                hits = space.search("something", now=START + timedelta(days=1))
                assert {hit.id: hit.role for hit in hits} == ROLES


@pytest.fixture
def riding(monkeypatch):
    """What an older version read: Anna rides a kayak, and stopped doing so."""
    facts = [
        ("Anna", "rides", "kayak", 0),
        ("Anna Berg", "stopped riding", "kayak", 1),
        ("Ben", "has", "dog", 2),
    ]
    monkeypatch.setattr(first_schema, "FACTS", facts)


@pytest.mark.parametrize("old", [1, 3], indirect=True)
@pytest.mark.slow
def test_facts_that_an_older_version_read_are_decided(riding, old, space_name, clock):
    options = {"embedder": HashEmbedder(32), "clock": clock, "enrich": "manual"}
    for _ in range(2):
        with Memory(**old, **options) as memory:
            space = memory.space(space_name)
            space.review.merge("Anna", into="Anna Berg")
            found = {triple.text: triple for triple in space.facts()}
            rides = found["Anna Berg rides kayak"]
            assert (rides.status, rides.reason) == ("superseded", "its end was told later")
            assert rides.superseded_by == found["Anna Berg stopped riding kayak"].uid
            assert found["Ben has dog"].status == "current"
            assert found["Ben has dog"].valid_from == found["Ben has dog"].first_observed
