"""Facts that an application states, on every store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cognigraph import ConfigurationError
from cognigraph.ingest import Extraction
from tests.cases import each
from tests.contract.test_states import at, home, statuses


def utc(year, month, day):
    return datetime(year, month, day, tzinfo=UTC)


@pytest.fixture
def space(open_memory, extractor, space_name):
    """One message about Ann, and what the application knows of her."""
    space = open_memory().space(space_name)
    extractor.script({"b": [home("Bergen")]})
    space.add("text b", id="b", session="s1", speaker="Ann", at=at("02-01"))
    space.flush()
    space.add_fact("Ann", "lives in", "Oslo", source="crm", at=at("06-01"), id="f1")
    space.flush()
    return space


def test_a_stated_fact_supersedes_what_was_read_and_keeps_its_source(space):
    assert statuses(space) == {"Ann lives in Bergen": "superseded", "Ann lives in Oslo": "current"}
    oslo, bergen = space.facts("Ann")
    assert (oslo.subject_type, oslo.object_type, oslo.valid_from) == (
        "person", "object", at("06-01")
    )  # fmt: skip
    assert oslo.is_stated and not bergen.is_stated
    (source,) = oslo.sources
    assert (source.id, source.session, source.said_by, source.provenance) == (
        "f1", "facts", "crm", "user"
    )  # fmt: skip
    assert bergen.sources[0].provenance == "text"
    assert space.get("f1").text == "Ann lives in Oslo"
    assert space.search("Where does Ann live?", now=at("07-01"))[0].id == "f1"
    space.add("text c", id="c", session="s2", speaker="Ann", at=at("08-01"))
    assert space.queue.estimate().windows == 1


def test_reading_everything_again_does_not_change_it(space, extractor):
    before = space.facts()
    assert space.queue.redo() == 2
    read = []

    def note(window):
        read.append(window.chunks)
        return Extraction()

    extractor.session = note
    space.flush()
    assert space.facts() == before
    assert [[chunk.text for chunk in chunks] for chunks in read] == [["text b"]]


@pytest.mark.slow
def test_a_stated_fact_is_superseded_updated_and_forgotten(space, extractor):
    extractor.script({"b": [home("Bergen")], "t": [home("Tromsø")], "f1": [home("Hamar")]})
    space.add("text t", id="t", session="facts", speaker="Ann", at=at("07-01"))
    space.flush()
    assert statuses(space)["Ann lives in Oslo"] == "superseded"
    assert space.forget(message="t").triples == 1
    assert statuses(space)["Ann lives in Oslo"] == "current"
    space.update("f1", "Ann lives in Hamar, she says.")
    space.flush()
    assert statuses(space) == {"Ann lives in Bergen": "superseded", "Ann lives in Hamar": "current"}
    assert not space.facts("Hamar")[0].is_stated
    space.forget(message="f1")
    assert statuses(space) == {"Ann lives in Bergen": "current"}
    assert space.add_fact("Ann", "lives in", "Oslo", source="crm", id="f1").forgotten == ("f1",)


def test_the_time_of_a_stated_fact(space):
    def times(object):
        (one,) = space.facts(object)
        return one.status, one.valid_from, one.valid_to, one.when and one.when.text

    space.add_fact("Ann", "works at", "DNB", valid_from="2019", valid_to="2021-06", at=at("06-01"))
    space.add_fact("Ann", "works at", "Equinor", valid_from="2021-08", at=at("06-01"))
    space.add_fact("Ann", "has", "a permit", valid_to="2028-03-31", at=at("06-01"))
    space.add_fact("Ann", "visited", "Rome", when="2025-05", at=at("06-01"))
    space.flush()
    assert times("DNB") == ("current", utc(2019, 1, 1), utc(2021, 7, 1), "2019..2021-06")
    assert times("Equinor") == ("current", utc(2021, 8, 1), None, "2021-08")
    permit = ("current", at("06-01"), utc(2028, 4, 1), "2026-06-01T09:00..2028-03-31")
    assert times("a permit") == permit
    assert times("Rome") == ("current", utc(2025, 5, 1), utc(2025, 6, 1), "2025-05")
    at_work = {
        year: [fact.object for fact in space.facts(slot="work", valid_at=utc(year, 2, 1))]
        for year in (2018, 2020, 2022)
    }
    assert at_work == {2018: [], 2020: ["DNB"], 2022: ["Equinor"]}
    assert space.review.conflicts() == []


@each(
    ("given", "said"),
    [
        ({"when": "soon"}, "when must be a date such as"),
        ({"when": "2026", "valid_to": "2027"}, "give either when, or valid_from and valid_to"),
        ({"valid_from": "2026/2027"}, "valid_from must be one time"),
        ({"valid_from": "2026", "valid_to": "2025"}, "must be later than valid_from"),
        ({"valid_to": "2025"}, "must be later than at; give valid_from as well"),
    ],
)
@pytest.mark.above_stores
def test_times_that_do_not_fit(space, given, said):
    with pytest.raises(ConfigurationError, match=said):
        space.add_fact("Ann", "lives in", "Oslo", at=at("06-01"), **given)
    with pytest.raises(ConfigurationError, match="object must have 1 to 300 characters"):
        space.add_fact("Ann", "lives in", " ")
    assert space.stats().messages == 2


@pytest.mark.slow
def test_a_stated_fact_takes_the_place_of_another(space):
    space.add_fact("Ann", "uses", "Spotify", at=at("06-01"))
    space.add_fact("Ann", "uses", "Tidal", at=at("06-02"), replaces=True)
    space.add_fact("Ann", "drinks", "coffee", at=at("06-01"))
    space.add_fact("Ann", "drinks", "coffee", at=at("06-02"), negated=True)
    space.flush()
    assert statuses(space)["Ann uses Spotify"] == "superseded"
    assert statuses(space)["Ann drinks coffee"] == "superseded"
    assert space.add_fact("Ann", "uses", "Tidal", at=at("06-02"), replaces=True).duplicates == 1
