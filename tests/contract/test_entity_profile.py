"""What is true of an entity, by slot, on every store."""

from __future__ import annotations

import pytest

from cognigraph import NotFoundError
from cognigraph.ingest import Extraction, Fact, Mention
from tests.contract.test_states import at, home


@pytest.fixture
def space(open_memory, extractor, space_name, clock):
    """What is known of Ann and what is hers."""
    space = open_memory().space(space_name)
    person = {
        "b": home("Bergen"),
        "o": home("Oslo", "moved to"),
        "jazz": Fact("Ann", "person", "likes", "jazz", "concept", (0,)),
        "rock": Fact("Ann", "person", "likes", "rock", "concept", (0,)),
        "rent": Fact("Ann's rent", "concept", "is", "9000 kroner", "concept", (0,)),
        "rome": Fact("Ann", "person", "visited", "Rome", "location", (0,), "2025-05"),
        "ben": Fact("Ben", "person", "likes", "Ann", "person", (0,)),
        "boss": Fact("Lars", "person", "is", "Ann's boss", "person", (0,)),
    }
    extractor.script({id: [fact] for id, fact in person.items()})
    extractor.session = lambda window: Extraction(
        mentions=(Mention("Ann", "person", (0,), ("Annie",)),)
    )
    for number, id in enumerate(person):
        space.add(f"text {id}", id=id, session=f"s-{id}", at=at(f"0{number + 1}-01"))
    space.flush()
    clock.advance(at("10-01") - clock())
    return space


def told(profile):
    return {entry.slot: [fact.object for fact in entry.facts] for entry in profile.entries}


@pytest.mark.slow
def test_a_profile_has_what_is_true_by_slot(space):
    profile = space.overview.profile("annie")
    assert (profile.name, profile.types, profile.aliases) == ("Ann", ("person",), ("Annie",))
    assert told(profile) == {
        "boss": ["Ann's boss"],
        "home": ["Oslo"],
        "likes": ["jazz", "rock"],
        "rent": ["9000 kroner"],
        "visited": ["Rome"],
    }
    assert profile["home"].since == profile["home"].facts[0].valid_from
    assert [source.id for source in profile["rent"].facts[0].sources] == ["rent"]
    assert profile["home"].earlier == ()
    assert tuple(profile) == profile.entries
    assert "home" in profile and "work" not in profile
    with pytest.raises(KeyError):
        profile["work"]
    with pytest.raises(NotFoundError, match="no entity is called 'Anton'"):
        space.overview.profile("Anton")


def test_a_profile_of_another_time_and_with_what_is_over(space):
    earlier = space.overview.profile("Ann", earlier=True)["home"]
    assert [item.object for item in (*earlier.earlier, *earlier.facts)] == ["Bergen", "Oslo"]
    assert told(space.overview.profile("Ann", valid_at=at("01-15"))) == {
        "home": ["Bergen"], "visited": ["Rome"]
    }  # fmt: skip
    then = space.overview.profile("Ann", as_of=at("03-15"))
    assert told(then) == {"home": ["Oslo"], "likes": ["jazz"]}
