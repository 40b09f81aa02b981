"""The order of what a user said about the same thing at different times."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import SearchSettings
from tests.conftest import START

pytestmark = pytest.mark.above_stores

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


PLAN = {
    "en": ("Teo pays 23 pounds for his phone plan.", "Teo pays for his phone plan eleven pounds."),
    "de": ("Der Handyvertrag kostet mich 23 Euro.", "Der Handyvertrag kostet mich jetzt 11 Euro."),
}
ASKED = {"en": "What does Teo pay for his phone plan?", "de": "Was kostet mich der Handyvertrag?"}


def said_of_the_plan(space, language, *, by="Teo"):
    """What two people say, each message in a session of its own; the last is about the plan."""
    old, new = PLAN[language]
    texts = [old, "The cat hid behind the piano.", "We planted beans and carrots.", new]
    for number, text in enumerate(texts):
        speaker = by if text == new else "Teo"
        at = START + timedelta(days=10 * number)
        space.add(text, id=f"m{number}", session=f"s{number}", speaker=speaker, at=at)


@pytest.mark.parametrize("language", PLAN)
def test_the_last_version_of_what_a_person_said_comes_first(open_memory, space_name, language):
    space = open_memory().space(space_name)
    said_of_the_plan(space, language)
    result = space.search(ASKED[language], now=NOW)
    assert [hit.id for hit in result][:2] == ["m3", "m0"]
    off = space.search(ASKED[language], now=NOW, settings=SearchSettings(time_order=False))
    assert [hit.id for hit in off][:2] == ["m0", "m3"], "it matches better"
    note = (
        "moved up: the same speaker said something very like it earlier, which is among the first"
    )
    assert [hit.id for hit in result if note in hit.why.notes] == ["m3"]
    assert "of what one person said of the same thing, the last comes first" in result.trace.notes
    assert not any("moved up" in note for hit in off for note in hit.why.notes)


def test_what_another_person_said_later_is_no_version(open_memory, space_name):
    space = open_memory().space(space_name)
    said_of_the_plan(space, "en", by="Maud")
    result = space.search(ASKED["en"], now=NOW)
    assert [hit.id for hit in result][:2] == ["m0", "m3"]
    assert not any("moved up" in note for hit in result for note in hit.why.notes)


def test_what_a_person_paid_is_not_turned_round(open_memory, space_name):
    space = open_memory().space(space_name)
    said_of_the_plan(space, "en")
    result = space.search("What did Teo pay for his phone plan?", now=NOW)
    assert [hit.id for hit in result][:2] == ["m0", "m3"]


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        (
            "Worauf liest Teo jetzt?",
            "Ich lese auf einem Kindle.",
            "Der Kindle ist hin, ich lese auf einem Kobo.",
        ),
        ("天天现在用什么看书？", "我每天用平板电脑看书。", "平板电脑坏了，换了电子书。"),
    ],
    ids=["German", "Chinese"],
)
def test_now_does_not_undo_what_a_later_version_says(open_memory, space_name, question, old, new):
    space = open_memory(enrich="manual").space(space_name)
    for day, text in ((0, old), (200, new)):
        space.add(
            text, id=text, speaker="Teo", session=str(day), at=NOW - timedelta(days=300 - day)
        )
    assert next(hit.id for hit in space.search(question, now=NOW)) == new
