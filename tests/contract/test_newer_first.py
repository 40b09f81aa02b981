"""The order of what a user said about the same thing at different times."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import SearchSettings
from tests.conftest import START

pytestmark = pytest.mark.one_line

NOW = START + timedelta(days=90)
SAID = {
    "old": "My gym membership is 52 a month, and I go on Tuesdays.",
    "new": "I have switched the gym membership, it is 41 now.",
}


@pytest.fixture
def space(open_memory, space_name):
    space = open_memory().space(space_name)
    for number, (name, text) in enumerate(SAID.items()):
        at = START + timedelta(days=40 * number)
        space.add(text, id=name, session=name, role="user", at=at)
        advice = "A gym membership is 52 a month in most towns."
        space.add(advice, id=f"{name}-advice", session=name, role="assistant", at=at)
    return space


def order(space, question, **arguments):
    found = [hit.id for hit in space.search(question, now=NOW, **arguments)]
    return [name for name in found if name in SAID]


@pytest.mark.parametrize(
    "question",
    [
        "What is my gym membership a month?",
        "What do I pay a month for my gym membership?",
        "What is my gym membership a month at the moment?",
    ],
)
def test_a_question_about_how_things_are_gets_the_newest_first(space, question):
    off = SearchSettings(time_order=False)
    assert order(space, question, settings=off) == ["old", "new"], "it matches better"
    assert order(space, question) == ["new", "old"]
    assert order(space, question, k=1) == ["new"]


def test_it_is_explained(space):
    result = space.search("What is my gym membership a month?", now=NOW)
    new = next(hit for hit in result if hit.id == "new")
    assert any(note.startswith("moved up: newer") for note in new.why.notes)
    assert new.why.signals["change"] == pytest.approx(2 / 3)
    assert any("newer ones first" in note for note in result.trace.notes)
    assert not any("moved up" in note for hit in result if hit is not new for note in hit.why.notes)


@pytest.mark.parametrize(
    "question",
    [
        "What did I pay for the gym membership?",
        "What did I use to pay for the gym membership a month?",
        "What was my gym membership before?",
        "What did the gym membership cost at first?",
    ],
)
def test_a_question_about_the_past_is_not_turned_round(space, question):
    result = space.search(question, now=NOW)
    assert not any("newer ones first" in note for note in result.trace.notes)
    assert not any("moved up" in note for hit in result for note in hit.why.notes)
