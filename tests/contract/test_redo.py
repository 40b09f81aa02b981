"""Redo with a newer extractor, on every store: old facts are used until they are replaced."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import ConfigurationError, Settings
from cognigraph.ingest import Extraction, Fact, Mention
from cognigraph.model import Theme
from cognigraph.settings import EnrichSettings
from cognigraph.stores.records import Derivation
from cognigraph.testing import ScriptedExtractor
from tests.conftest import START
from tests.contract.test_enrichment import add, claim, facts


def fact(object, *positions, subject="Ann"):
    return Fact(subject, "person", "likes", object, "object", positions or (0,))


def reader(name, script):
    """Extracts what the script has for each message, with the session's messages as keys."""
    extractor = ScriptedExtractor(script, name=name)

    def session(window):
        read = tuple(chunk.message_id for chunk in window.chunks)
        before = tuple(key for key, _ in window.notes.keys if not key.startswith("by "))
        return Extraction(
            keys=(*((key, 1.0) for key in (*before, *read)), (f"by {name}", 2.0)),
            themes=(Theme(name, " ".join((*before, *read))),),
            state=window.notes.state + "".join(read),
        )

    extractor.session = session
    return extractor


def graph(space):
    """Everything that enrichment wrote, including times."""
    ties = "MATCH (c:Chunk)-[:MENTIONS]->(e:Entity) RETURN c.message_id AS id, e.name AS name"
    inside = "MATCH (t:Triple)-[:IN_SESSION]->(s:Session) RETURN t.object AS t, s.id AS s"
    return {
        "triples": sorted(
            (t.text, t.first_observed, t.last_observed, t.sources) for t in space.facts()
        ),
        "entities": sorted(
            (e.name, e.type, e.triples, e.mentions) for e in space.entities(limit=1000)
        ),
        "mentions": sorted((row["id"], row["name"]) for row in space.cypher(ties)),
        "inside": sorted((row["t"], row["s"]) for row in space.cypher(inside)),
        "sessions": [(s.id, sorted(s.keys), s.themes) for s in space.overview.sessions()],
        "stats": space.stats(),
    }


OLD = {
    "m1": [fact("tea"), fact("kayaks")],
    "m2": [fact("tea"), fact("itself", subject="Itself")],
    "n1": [fact("tea"), fact("rain")],
}
NEW = {"m1": [fact("tea")], "m2": [fact("coffee")], "n1": [fact("tea")]}


def fill(space):
    add(space, "m1", "m2")
    add(space, "n1", session="t", start=START + timedelta(days=3))


@pytest.mark.slow
def test_redo_replaces_the_earlier_extraction(open_memory, space_name):
    """The result is that of the newer extractor alone."""
    old = open_memory(extractor=reader("x-1", OLD)).space(space_name)
    fill(old)
    old.flush()
    before = graph(old)
    new = open_memory(extractor=reader("x-2", NEW)).space(space_name)
    assert new.queue.redo(older_than=2) == 3
    assert new.stats().pending == 3
    waiting = graph(new)
    for name in ("triples", "entities", "mentions", "sessions"):
        assert waiting[name] == before[name]  # old facts are still used
    assert [hit.id for hit in new.search("Who likes kayaks?", now=START + timedelta(days=9))]
    assert {t.object for t in new.search("kayaks", now=START + timedelta(days=9)).triples} >= {
        "kayaks"
    }
    new.flush()
    alone = open_memory(extractor=reader("x-2", NEW)).space(space_name + "-alone")
    fill(alone)
    alone.flush()
    after, expected = graph(new), graph(alone)
    for name in ("entities", "mentions", "inside", "sessions"):
        assert after[name] == expected[name], name
    assert after["triples"] == expected["triples"]
    assert (after["stats"].triples, after["stats"].entities) == (2, 3)
    found = new.search("Who likes kayaks and tea?", now=START + timedelta(days=9))
    assert {triple.object for triple in found.triples} == {"tea", "coffee"}
    assert [summary.extractor for summary in new.overview.summaries("s")] == ["x-2", "x-1"]


@pytest.mark.slow
def test_only_older_versions_of_the_family_are_read_again(open_memory, space_name):
    for number, name in enumerate(("x-1", "x-2", "x-10", "y-1")):
        space = open_memory(extractor=reader(name, {})).space(space_name)
        add(space, f"m{number}", session=f"s-{name}")
        space.flush()
    extractor = reader("x-10", {})
    space = open_memory(extractor=extractor).space(space_name)
    assert space.queue.redo(older_than=1) == 0
    assert space.queue.redo(older_than="x-10") == 2
    assert space.queue.redo(older_than=10) == 0  # they are queued already
    space.flush()
    assert sorted(extractor.read) == ["m0", "m1"]
    assert (
        space.queue.redo(older_than="y-2") == 1
    )  # another extractor's results only if it is named
    assert space.queue.redo() == 3
    space.flush()
    assert space._engine.store.queue.extractors(space_name) == {"x-10": 4}
    with pytest.raises(ConfigurationError, match="'rules-2'"):
        space.queue.redo(older_than="newest")


def test_redo_extracts_a_session_completely_from_its_beginning(open_memory, space_name):
    settings = Settings(enrich=EnrichSettings(batch=2))
    space = open_memory(extractor=reader("x-1", {}), settings=settings).space(space_name)
    add(space, "m1", "m2")
    space.flush()
    later = reader("x-2", {})
    space = open_memory(extractor=later, settings=settings).space(space_name)
    add(space, "m3", start=START + timedelta(hours=1))
    space.flush()
    assert space.queue.redo(older_than=2) == 3
    again = reader("x-2", {})
    space = open_memory(extractor=again, settings=settings).space(space_name)
    add(space, "m4", start=START + timedelta(hours=2))
    space.flush()
    notes = [(w.notes.state, [c.message_id for c in w.chunks]) for w in again.windows]
    assert notes == [("", ["m1", "m2"]), ("m1m2", ["m3", "m4"])]
    (session,) = space.overview.sessions()
    assert session.themes == (Theme("x-2", "m1 m2 m3 m4"),)
    assert session.version == 4


@pytest.mark.slow
def test_a_failed_redo_keeps_the_earlier_extraction(open_memory, space_name, clock):
    space = open_memory(extractor=reader("x-1", OLD)).space(space_name)
    fill(space)
    space.flush()
    before = facts(space)
    summary = space.overview.sessions()[-1].summary
    broken = reader("x-2", NEW)
    broken.fail_for("m1", "m2", "n1", times=99)
    settings = Settings(enrich=EnrichSettings(park_after=1))
    space = open_memory(extractor=broken, settings=settings).space(space_name)
    space.queue.redo()
    space.queue.enrich()
    assert space.stats().failed == 3
    assert facts(space) == before
    assert space.overview.sessions()[-1].summary == summary
    broken.fail_for("m1", "m2", "n1", times=0)
    assert space.queue.retry() == 3
    space.flush()
    assert {(text, *ids) for text, _, ids in facts(space)} == {
        ("Ann likes tea", "m1", "n1"), ("Ann likes coffee", "m2"),
    }  # fmt: skip


def test_redo_ends_the_lease_of_its_session(open_memory, space_name, clock):
    memory = open_memory(extractor=reader("x-1", {}))
    space = memory.space(space_name)
    add(space, "m1")
    space.flush()
    add(space, "m2", start=START + timedelta(hours=1))
    held = claim(memory, clock, space_name)
    assert space.queue.redo() == 1
    assert not memory._engine.store.queue.complete(held, Derivation("late-1"))
    assert space.stats().pending == 2


def test_an_entity_that_is_mentioned_stays_without_triples(open_memory, space_name):
    first = ScriptedExtractor(name="x-1")
    first.result = lambda window: Extraction(
        facts=(fact("tea"),),
        mentions=(Mention("tea", "object", (0,)), Mention("x", "object", (0,))),
    )
    space = open_memory(extractor=first).space(space_name)
    add(space, "m1")
    space.flush()
    second = ScriptedExtractor(name="x-2")
    second.result = lambda window: Extraction(mentions=(Mention("tea", "object", (0,)),))
    space = open_memory(extractor=second).space(space_name)
    space.queue.redo()
    space.flush()
    assert [(e.name, e.triples, e.mentions) for e in space.entities()] == [("tea", 0, 1)]
    assert space.facts() == []


@pytest.mark.slow
def test_summaries_are_kept_as_revisions_and_survive_failures(
    open_memory, space_name, extractor, clock
):
    settings = Settings(enrich=EnrichSettings(keep_revisions=3))
    space = open_memory(settings=settings).space(space_name)
    extractor.result = lambda window: Extraction(
        keys=tuple((chunk.message_id, 1.0) for chunk in window.chunks),
        themes=(Theme("T", f"{window.chunks[-1].message_id} 𝄞 \"'"), Theme("", "more")),
    )
    times = []
    for number in range(5):
        add(space, f"m{number}", start=START + timedelta(hours=number))
        times.append(clock.advance(timedelta(hours=1)))
        space.flush()
    extractor.fail_for("m5", times=1)
    add(space, "m5", start=START + timedelta(hours=9))
    space.queue.enrich()
    clock.advance(timedelta(hours=1))
    extractor.result = lambda window: Extraction()
    space.queue.enrich()  # without a summary there is no new revision
    found = space.overview.summaries("s")
    assert [(item.version, item.at) for item in found] == [
        (5, times[4]), (4, times[3]), (3, times[2]),
    ]  # fmt: skip
    assert (found[0].session, found[0].extractor, found[0].keys) == ("s", "scripted-1", ("m4",))
    assert found[1].themes == (Theme("T", "m3 𝄞 \"'"), Theme("", "more"))
    assert found[1].text == "T: m3 𝄞 \"'\nmore"
    (session,) = space.overview.sessions()
    assert (session.version, session.themes) == (5, found[0].themes)
    assert space.overview.summaries("other") == []
    assert open_memory().space(space_name + "x").overview.summaries("s") == []
    rows = space.cypher(
        "MATCH (s:Session)-[:HAS_REVISION]->(r:Revision) "
        "RETURN r.version AS version, r.keys AS keys ORDER BY r.version"
    )
    assert rows == [{"version": n, "keys": [f"m{n - 1}"]} for n in (3, 4, 5)]


def spelled(space):
    """Return all spellings: of entities, of facts about them, and of aliases."""
    return (
        {(e.name, e.aliases) for e in space.entities(limit=1000)},
        {(t.subject, t.relation, t.object) for t in space.facts()},
    )


def names_ann(name, alias, relation):
    met = Fact(name, "person", relation, "tea", "object", (0,))
    return Extraction(facts=(met,), mentions=(Mention(name, "person", (0,), (alias,)),))


@pytest.mark.slow
def test_redo_removes_the_spelling_that_a_chunk_gave_to_shared_names(open_memory, space_name):
    """The canonical spelling is that of the first chunk that still supports the name."""
    later = {"n1": names_ann("Ann", "ANNIE", "Likes"), "n2": names_ann("ann", "annie", "likes")}
    old = {"m1": names_ann("ANN", "Annie", "LIKES"), **later}
    new = {"m1": Extraction(facts=(fact("coffee", subject="Bob"),)), **later}

    def read(space, name, script, *ids):
        extractor = ScriptedExtractor(lambda w: script[w.chunks[0].message_id], name=name)
        own = open_memory(extractor=extractor).space(space)
        for id in ids:
            add(own, id, session=id, start=START + timedelta(days=list(old).index(id)))
        own.flush()
        return own

    read(space_name, "x-1", old, "m1")
    first = read(space_name, "y-1", old, "n1", "n2")
    assert ("ANN", ("Annie",)) in spelled(first)[0]
    assert ("ANN", "LIKES", "tea") in spelled(first)[1]
    assert first._engine.store.queue.redo(space_name, ["x-1"]) == 1
    again = read(space_name, "x-2", new)
    assert spelled(again) == (
        {("Ann", ("ANNIE",)), ("Bob", ()), ("tea", ()), ("coffee", ())},
        {("Ann", "Likes", "tea"), ("Bob", "likes", "coffee")},
    )
    assert spelled(again) == spelled(read(f"{space_name}-2", "x-2", new, *old))
