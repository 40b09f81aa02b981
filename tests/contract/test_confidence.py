"""How sure a search is, and what is left out where the memory has nothing to say."""

from __future__ import annotations

import pytest

from cognigraph import ConfigurationError, ContextSettings, SearchSettings, Settings

pytestmark = pytest.mark.above_stores

NOW = "2026-06-19T09:00:00Z"
KITCHEN = (
    "I made a risotto with mushrooms and parmesan last night.",
    "For the curry I need coconut milk, lentils and ginger.",
    "The bread needs to rise for 12 hours in the fridge.",
    "I am allergic to peanuts, so no satay.",
    "Pancakes: 3 eggs, 250 ml milk, 125 g flour.",
    "The best knife in my kitchen is a Japanese santoku.",
    "Am Sonntag backe ich einen Kuchen mit Kirschen.",
    "周末我想做红烧肉。",
)


@pytest.fixture
def kitchen(open_memory, space_name):
    space = open_memory(enrich="manual").space(space_name)
    for number, text in enumerate(KITCHEN):
        space.add(text, id=f"m{number}", speaker="user", at=f"2026-06-0{number + 1}T09:00:00Z")
    return space


@pytest.mark.slow
def test_what_is_known_is_found_surely_and_what_is_not_gets_an_empty_block(kitchen):
    known = (
        ("How long does the bread rise?", "m2"),
        ("Was backe ich am Sonntag mit Kirschen?", "m6"),
        ("周末我想做什么红烧肉？", "m7"),
    )
    for question, id in known:
        found = kitchen.search(question, now=NOW)
        block = kitchen.context(question, now=NOW)
        assert (found[0].id, found.confidence > 0.5) == (id, True)
        assert block.confidence == pytest.approx(found.confidence)
        sure = [hit.confidence for hit in found]
        assert sure == sorted(sure, reverse=True)
        assert 0 < sure[-1] < sure[0] < found.confidence <= 1
        assert "Weak:" not in block
    for question in (
        "asdf qwer",
        "What is the capital of Mongolia?",
        "Explain entanglement",
        "???",
    ):
        found, block = kitchen.search(question, now=NOW), kitchen.context(question, now=NOW)
        assert (found.confidence < 0.08, len(found) > 0) == (True, True)
        assert (block, block.hits) == ("", ())
        assert "nothing found: the confidence is 0.0" in block.notes[-1]


def test_the_floor_can_be_lowered_and_what_is_shown_then_is_said_to_be_weak(kitchen):
    best = kitchen.context("asdf qwer", now=NOW, min_confidence=0)
    assert best.split("\n")[1].startswith("Weak: perhaps nothing here answers (confidence 0.0")
    lower = Settings(context=ContextSettings(floor=0.0))
    assert kitchen.context("asdf qwer", now=NOW, settings=lower) == best


@pytest.mark.slow
def test_less_probable_messages_are_left_out(kitchen):
    question = "How long does the bread rise?"
    everything = kitchen.search(question, now=NOW)
    few = kitchen.search(question, now=NOW, min_confidence=0.2)
    assert [hit.id for hit in few] == [hit.id for hit in everything if hit.confidence >= 0.2]
    assert 0 < len(few) < len(everything)
    several = kitchen.search(question, now=NOW, also=["the bread"], min_confidence=0.2)
    assert [hit.confidence >= 0.2 for hit in several] == [True] * len(several)
    block = kitchen.context(question, now=NOW, min_confidence=0.2)
    assert {hit.id for hit in block.hits} == {hit.id for hit in few}
    nothing = kitchen.search(question, now=NOW, min_confidence=0.9)
    assert (len(nothing), nothing.sessions, nothing.triples) == (0, (), ())
    assert nothing.trace.notes[-1].startswith("nothing found: the confidence is 0.")


def test_what_cannot_be_judged_is_not_left_out(kitchen):
    broad = kitchen.search("What do you know about me?", now=NOW)
    assert broad.confidence is None
    assert kitchen.context("What do you know about me?", now=NOW)
    plain = SearchSettings(late_interaction=False)
    found = kitchen.search("asdf qwer", now=NOW, settings=plain, min_confidence=0.5)
    assert (found.confidence, len(found) > 0) == (None, True)
    assert found.trace.notes[-1].startswith("the confidence is unknown")


def test_a_confidence_that_is_none_is_refused(kitchen):
    with pytest.raises(ConfigurationError, match="min_confidence must be at most 1"):
        kitchen.search("bread", min_confidence=1.5)
    with pytest.raises(ConfigurationError, match="episodes have none"):
        kitchen.search("bread", min_confidence=0.5, layer="episodes")


def told(open_memory, name, *messages):
    space = open_memory(enrich="manual").space(name)
    for number, (speaker, text) in enumerate(messages):
        space.add(text, id=f"m{number}", session="s", speaker=speaker, at="2026-06-01T09:00:00Z")
    return space


@pytest.mark.slow
def test_a_memory_of_one_message_answers_what_it_supports(open_memory, space_name):
    space = told(open_memory, space_name, ("Ann", "Ann moved to Leeds"))
    for question in ("Where does Ann live?", "Where does she live?"):
        assert "Ann moved to Leeds" in space.context(question, now=NOW), question
    for question in ("who won the 1998 world cup", "What is the capital of Mongolia?"):
        block = space.context(question, now=NOW)
        assert (block, block.hits) == ("", ())
        assert block.notes[-1].startswith("nothing found: no message has a word"), question
        assert "Leeds" in space.context(question, now=NOW, min_confidence=0)


def test_a_memory_of_one_message_about_something_else_supports_nothing(open_memory, space_name):
    space = told(open_memory, space_name, ("user", "I love prawns with garlic."))
    assert space.context("who won the 1998 world cup", now=NOW) == ""
    assert "prawns" in space.context("What seafood do I like?", now=NOW)
