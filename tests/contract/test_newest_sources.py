"""A search reads the newest sources of a fact that was said often, and counts the others."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cognigraph.ids import chunk_uid, message_uid
from cognigraph.stores.candidates import NewestSources, ResultQuery, ResultRecords

MESSAGES = [
    {
        "id": f"m{n}",
        "session": "s",
        "speaker": "Ann",
        "at": f"2026-05-{n + 1:02}T09:00:00Z",
        "text": "My sister Klara lives in Bergen.",
    }
    for n in range(14)
]


@pytest.fixture
def space(open_memory, space_name):
    """Ann says the same on fourteen days."""
    space = open_memory(extractor="rules").space(space_name)
    space.add_many(MESSAGES)
    space.flush(60)
    return space


@pytest.mark.slow
def test_a_search_lists_the_newest_sources_and_those_among_its_hits(space):
    result = space.search("Where does Klara live?", k=14)
    said = {hit.id: hit for hit in result.hits}
    (lives,) = [triple for triple in result.triples if triple.text == "Klara lives in Bergen"]
    assert len(said) == 14
    assert [source.id for source in lives.sources] == [f"m{n}" for n in range(13, -1, -1)]
    assert (lives.older_sources, lives.source_count) == (0, 14)

    result = space.search("Where does Klara live?", k=2)
    (lives,) = [triple for triple in result.triples if triple.text == "Klara lives in Bergen"]
    expected = {f"m{n}" for n in range(4, 14)} | {hit.id for hit in result.hits}
    assert {source.id for source in lives.sources} == expected
    assert lives.source_count == 14

    (whole,) = [fact for fact in space.facts("Bergen") if fact.uid == lives.uid]
    assert (len(whole.sources), whole.older_sources) == (14, 0)

    then = space.search("Where does Klara live?", k=2, as_of="2026-05-12T10:00:00Z")
    (lives,) = [triple for triple in then.triples if triple.text == "Klara lives in Bergen"]
    assert [source.id for source in lives.sources][:10] == [f"m{n}" for n in range(11, 1, -1)]
    assert (lives.source_count, lives.last_observed.day) == (12, 12)


def test_the_store_reads_as_many_sources_as_are_asked_for(space):
    store = space._engine.store.search
    (lives,) = [fact for fact in space.facts("Bergen") if fact.text == "Klara lives in Bergen"]
    chunk = chunk_uid(message_uid(space.name, "s", "m1"), 0)
    until = datetime(2026, 5, 10, 9, tzinfo=UTC)
    for newest, ids, older in (
        (NewestSources(3), ["m13", "m12", "m11"], 11),
        (NewestSources(2, (chunk,)), ["m13", "m12", "m1"], 11),
        (NewestSources(2, (chunk,), until), ["m9", "m8", "m1"], 7),
        (NewestSources(20), [f"m{n}" for n in range(13, -1, -1)], 0),
    ):
        found = store.triples_by_uid(space.name, [lives.uid], newest)[lives.uid]
        assert ([source.id for source in found.sources], found.older_sources) == (ids, older)
    assert store.triples_by_uid(space.name, [lives.uid])[lives.uid] == lives


@pytest.mark.slow
def test_the_records_of_a_result_are_those_read_one_by_one(space):
    space.add(
        "I am a nurse.",
        id="other",
        session="t",
        speaker="Ann",
        at="2026-06-01T09:00:00Z",
    )
    space.flush(60)
    store = space._engine.store.search
    (lives,) = [item for item in space.facts("Bergen") if item.text == "Klara lives in Bergen"]
    others = sorted(item.uid for item in space.facts() if item.uid != lives.uid)
    said = [chunk_uid(message_uid(space.name, "s", f"m{n}"), 0) for n in (1, 13)]
    nurse = chunk_uid(message_uid(space.name, "t", "other"), 0)
    newest = NewestSources(2, (said[0],))
    query = ResultQuery([*said, nurse, "none"], said, [*others, "none"], ["s", "t", "none"], newest)
    found = store.result(space.name, query)
    assert found.chunks == store.chunks(space.name, [*said, nurse])
    assert set(found.chunks) == {*said, nurse}
    assert found.triples == store.triples_by_uid(space.name, [lives.uid, *others], newest)
    assert set(found.triples) == {lives.uid, *others}
    assert [source.id for source in found.triples[lives.uid].sources] == ["m13", "m12", "m1"]
    assert found.often >= {lives.uid}
    assert not any(found.triples[uid].source_count > 2 for uid in set(others) - found.often)
    assert found.sessions == {session.id: session for session in space.overview.sessions()}
    assert set(found.sessions) == {"s", "t"}
    stated = {
        uid: sorted(item.uid for item in space.facts() if id in {said.id for said in item.sources})
        for uid, id in zip(said, ("m1", "m13"), strict=True)
    }
    assert found.stated == {uid: tuple(uids) for uid, uids in stated.items()}

    later = store.result(space.name, ResultQuery(stating=[nurse], newest=NewestSources(1)))
    assert (later.chunks, later.sessions) == ({}, {})
    assert [
        (fact.text, [source.id for source in fact.sources]) for fact in later.triples.values()
    ] == [("Ann works as nurse", ["other"])]
    assert store.result(space.name, ResultQuery()) == ResultRecords()
    assert store.result(f"{space.name}-empty", query) == ResultRecords()


@pytest.mark.slow
def test_a_fact_said_often_lists_sources_in_the_hits_only(space):
    """Messages are put in order before the first are chosen, and all their facts were read."""
    result = space.search("Where does Klara live now?", k=2)
    (lives,) = [triple for triple in result.triples if triple.text == "Klara lives in Bergen"]
    expected = {f"m{n}" for n in range(4, 14)} | {hit.id for hit in result.hits}
    assert {source.id for source in lives.sources} == expected
    assert lives.source_count == 14
