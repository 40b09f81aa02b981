"""Time in a question and ``as_of``, on every store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import SearchSettings
from cognigraph.ingest import Extraction, Fact
from cognigraph.model import Theme
from tests.conftest import START, OpenMemory

HOMES = ["Bergen", "Oslo", "Tromso"]


@pytest.fixture
def space(open_memory: OpenMemory, space_name, extractor):
    """Ann moves every 30 days; between the moves she talks about food."""
    space = open_memory().space(space_name)
    facts = {}
    for number, home in enumerate(HOMES):
        day = START + timedelta(days=30 * number)
        talk = [f"I live in {home} now, in a flat.", "We had soup today.", "The cat sleeps."]
        for position, text in enumerate(talk):
            space.add(
                text, id=f"{home}{position}", session=home, speaker="Ann",
                at=day + timedelta(minutes=position),
            )  # fmt: skip
        facts[f"{home}0"] = [Fact("Ann", "person", "lives in", home, "location", (0,))]
    # The same fact, said again at the end.
    space.add("In Bergen I lived by the harbour.", id="again", session="Tromso", speaker="Ann",
              at=START + timedelta(days=61))  # fmt: skip
    facts["again"] = [Fact("Ann", "person", "lives in", "Bergen", "location", (0,))]
    extractor.script(facts)
    extractor.session = lambda window: Extraction(
        themes=(Theme("home", " ".join(chunk.text for chunk in window.chunks)),)
    )
    space.flush()
    return space


NOW = START + timedelta(days=90)


@pytest.mark.slow
@pytest.mark.above_stores
def test_the_newest_state_comes_first_when_it_is_asked_for(space):
    assert space.search("Where does Ann live now?", now=NOW)[0].id in ("Tromso0", "again")
    now = [hit.id for hit in space.search("In which flat does Ann live now?", now=NOW)]
    assert now.index("Tromso0") < now.index("Oslo0") < now.index("Bergen0")
    first = [hit.id for hit in space.search("In which flat did Ann live originally?", now=NOW)]
    assert first[0] == "Bergen0"
    result = space.search("Where does Ann live now?", now=NOW)
    assert any("newest of the best come first" in note for note in result.trace.notes)
    paper = space.search("Where does Ann live now?", settings=SearchSettings(ranking="licomemory"))
    assert not any("come first" in note for note in paper.trace.notes)
    off = SearchSettings(time_order=False, decay=False)
    plain = space.search("In which flat does Ann live now?", now=NOW, settings=off)
    assert [hit.score for hit in plain] == sorted((hit.score for hit in plain), reverse=True)


@pytest.mark.above_stores
def test_an_event_in_the_question_bounds_the_time_window(space):
    result = space.search("What did she eat before she lived in Oslo in a flat?", now=NOW)
    assert any("before 'she lived in oslo in a flat'" in note for note in result.trace.notes)
    before = [hit.id for hit in result if "soup" in hit.text]
    assert before.index("Bergen1") < before.index("Tromso1")
    after = space.search("What did she eat after she lived in Oslo in a flat?", now=NOW)
    soups = [hit.id for hit in after if "soup" in hit.text]
    assert soups.index("Tromso1") < soups.index("Bergen1")


@pytest.mark.slow
def test_as_of_answers_as_it_was_then(space):
    as_of = START + timedelta(days=45)
    result = space.search("Where does Ann live?", now=NOW, as_of=as_of)
    assert {hit.session for hit in result} == {"Bergen", "Oslo"}
    assert all(hit.at <= as_of for hit in result)
    assert {triple.object for triple in result.triples} == {"Bergen", "Oslo"}
    bergen = next(triple for triple in result.triples if triple.object == "Bergen")
    assert [source.id for source in bergen.sources] == ["Bergen0"]
    assert bergen.last_observed == START
    assert {hit.session.id for hit in result.sessions} == {"Bergen", "Oslo"}
    block = space.context("Where does Ann live?", now=NOW, as_of=as_of)
    assert "Oslo" in block
    assert "Tromso" not in block
    assert space.search("Where does Ann live?", now=NOW, as_of=START - timedelta(days=1)).hits == ()


def test_triples_with_as_of_omit_later_evidence(space):
    known = space.facts("Ann", as_of=START + timedelta(days=45))
    assert [(triple.object, len(triple.sources)) for triple in known] == [
        ("Oslo", 1),
        ("Bergen", 1),
    ]
    assert len(space.facts("Ann")) == len(space.facts()) == 3
    assert [triple.object for triple in space.facts(as_of=START)] == ["Bergen"]
    assert space.facts(as_of=START - timedelta(days=1)) == []


@pytest.mark.slow
def test_a_summary_that_covers_what_came_later_is_not_shown(space):
    midway = START + timedelta(days=30, minutes=1)  # the session in Oslo has one more turn
    result = space.search("Where does Ann live?", now=NOW, as_of=midway)
    assert {hit.session for hit in result} == {"Bergen", "Oslo"}
    assert [hit.session.id for hit in result.sessions] == ["Bergen"]


@pytest.mark.slow
@pytest.mark.above_stores
def test_as_of_is_read_from_the_question(space):
    result = space.search("As of June 2026, where does Ann live?", now=NOW)
    assert {hit.session for hit in result} == {"Bergen", "Oslo"}
    assert any(note.startswith("as of 2026-07-01") for note in result.trace.notes)


@pytest.mark.slow
@pytest.mark.above_stores
def test_a_question_about_when_shows_the_day_of_asking(space):
    block = space.context("When did Ann live in Oslo?", now=NOW)
    assert block.splitlines()[1] == f"Now: {NOW:%Y-%m-%d}"
    assert f"said {START + timedelta(days=30):%Y-%m-%d}" in block
    assert "Now:" not in space.context("Where does Ann live?", now=NOW)
