"""The user of a space: one entity, whatever they are called, on every store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import Filter
from cognigraph.ingest import Fact, RulesExtractor
from tests.conftest import START

pytestmark = pytest.mark.above_stores

NOW = START + timedelta(days=1)


def test_the_user_s_own_name_leads_to_what_the_user_said(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)
    space.add("I moved to Oslo in May.", id="m1", role="user", at=START)
    space.add("How nice!", id="m2", role="assistant", at=START)
    space.add("My name is Ann.", id="m3", role="user", at=START + timedelta(minutes=1))
    space.flush()
    user = next(entity for entity in space.entities() if entity.name == "user")
    assert "Ann" in user.aliases
    for question in ("Where does Ann live?", "Where do I live?"):
        assert "user" in space.search(question, 3, NOW).trace.anchors
    assert ("user", "Oslo") in {(t.subject, t.object) for t in space.facts("Ann")}


@pytest.mark.slow
def test_i_is_the_user_under_their_name(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    space.add("I live in Oslo.", id="m1", speaker="Ann", role="user", at=START)
    space.add("I live in Rome.", id="m2", speaker="Ben", at=START)
    extractor.script(
        {
            "m1": [Fact("Ann", "person", "lives in", "Oslo", "location", (0,))],
            "m2": [Fact("Ben", "person", "lives in", "Rome", "location", (0,))],
        }
    )
    space.flush()
    assert space.search("Where do I live?", 3, NOW).trace.anchors == ("Ann",)
    # The one who is asked for, in a conversation between people.
    result = space.search("Where do I live?", 3, NOW, where=Filter(speaker="Ben"))
    assert (result.trace.anchors, [hit.id for hit in result]) == (("Ben",), ["m2"])


def test_two_users_are_not_one(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    for name, town in (("Ann", "Oslo"), ("Ben", "Rome"), ("user", "Bonn")):
        space.add(f"I live in {town}.", id=name, speaker=name, role="user", at=START)
    extractor.script(
        {
            name: [Fact(name, "person", "lives in", town, "location", (0,))]
            for name, town in (("Ann", "Oslo"), ("Ben", "Rome"), ("user", "Bonn"))
        }
    )
    space.flush()
    assert {(t.subject, t.object) for t in space.facts()} == {
        ("Ann", "Oslo"), ("Ben", "Rome"), ("user", "Bonn"),
    }  # fmt: skip
