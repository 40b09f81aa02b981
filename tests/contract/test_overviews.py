"""A block that spans a topic in time, on every store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import ConfigurationError, Filter
from cognigraph.testing import ScriptedModel
from tests.conftest import START

NOW = START + timedelta(days=200)
TOLD = [
    ("I want to restore the old boat of my grandfather.",
     "Begin with the keel of the boat: knock on it and listen for rot."),
    ("The keel of the boat is rotten, what a pity.",
     "Then order oak for a new keel of the boat, dried for two years."),
    ("The oak for the boat arrived from Sweden.",
     "Let the oak rest beside the boat for a month before you saw it."),
    ("The boat has its new keel, and it fits.", "Now paint the boat twice."),
]  # fmt: skip
OTHER = ["My sister bakes bread on Sundays.", "The cat sleeps on the piano.",
         "I read a novel about a lighthouse.", "The tax office wrote me a letter.",
         "The neighbours have a new trampoline.", "I lost my umbrella in the tram."]  # fmt: skip
QUESTION = "How did the work on the boat develop?"


@pytest.fixture
def space(open_memory, space_name):
    space = open_memory(extractor="rules").space(space_name)
    for number, (told, advised) in enumerate(TOLD):
        at = START + timedelta(days=30 * number)
        texts = [("user", told), ("assistant", advised), *(("user", other) for other in OTHER)]
        for turn, (who, text) in enumerate(texts):
            space.add(text, id=f"{number}-{turn}", session=f"s{number}", speaker=who,
                      at=at + timedelta(minutes=turn))  # fmt: skip
    space.flush()
    return space


def cited(block, kind):
    return [citation.id for citation in block.citations if citation.kind == kind]


@pytest.mark.slow
@pytest.mark.above_stores
def test_an_overview_spans_the_sessions_in_order_of_time(space):
    block = space.context(QUESTION, 700, now=NOW)
    messages = [f"{number}-{turn}" for number in range(4) for turn in (0, 1)]
    assert set(messages) <= set(cited(block, "message"))
    assert cited(block, "message") == sorted(cited(block, "message"))
    episodes = {episode.uid: episode for episode in space.overview.episodes()}
    told = [episodes[uid] for uid in cited(block, "episode")]
    assert len(told) >= 4 and not cited(block, "session")
    assert [item.started_at for item in told] == sorted(item.started_at for item in told)
    first = next(line for line in block.splitlines() if line.startswith("[E1] s0 (2026-05-20): "))
    assert "boat" in first
    assert block.tokens <= 700
    plain = space.context(QUESTION, 700, now=NOW, shape="answer")
    assert cited(plain, "episode") == [] and cited(plain, "session")
    assert space.context("the work on the boat", 700, now=NOW, shape="overview").count("[E") >= 4


@pytest.mark.slow
@pytest.mark.above_stores
def test_an_overview_shows_a_contradiction_with_both_dates(space):
    told = [("s0", 0, "green", None), ("s3", 90, "red", "green")]
    for session, days, colour, before in told:
        fact = {"subject": "boat", "relation": "has the colour", "object": colour}
        space.add(f"The boat will be {colour}.", session=session, speaker="user",
                  at=START + timedelta(days=days, minutes=50),
                  facts=[fact | ({"replaces": before} if before else {})])  # fmt: skip
    space.flush()
    block = space.context(QUESTION, 900, now=NOW)
    (old,) = [line for line in block.splitlines() if "will be green" in line]
    (new,) = [line for line in block.splitlines() if "will be red" in line]
    assert " 2026-05-20 " in f" {old}" and " 2026-08-18 " in f" {new}"
    assert "[no longer true: " in old and "no longer true" not in new


@pytest.mark.slow
def test_an_overview_keeps_to_the_filter_and_to_the_time(space):
    one = space.context(QUESTION, 700, now=NOW, where=Filter(session="s2"))
    assert {citation.session for citation in one.citations} == {"s2"}
    early = space.context(QUESTION, 700, now=NOW, as_of=START + timedelta(days=40))
    assert {citation.session for citation in early.citations} == {"s0", "s1"}


@pytest.mark.slow
@pytest.mark.above_stores
def test_an_overview_of_everything_has_episodes_of_all_times(space):
    block = space.context("What have we talked about so far?", 700, now=NOW)
    assert {citation.session for citation in block.citations if citation.kind == "episode"} == {
        "s0", "s1", "s2", "s3"
    }  # fmt: skip
    assert cited(block, "message")


@pytest.mark.slow
@pytest.mark.above_stores
def test_without_support_there_is_no_overview(space):
    block = space.context("Summarize the quarrel about quantum chromodynamics.", 700, now=NOW)
    assert str(block) == "" and block.notes[0].startswith("nothing found")


@pytest.mark.slow
@pytest.mark.above_stores
def test_ask_answers_from_an_overview(open_memory, space, space_name):
    answers = {
        "lico-missing": {"verdict": "enough", "missing": "", "queries": []},
        "loop-answer": {"answer": "It got a new keel. [E1]", "labels": ["E1"]},
    }
    model = ScriptedModel(lambda prompt: answers[prompt.name])
    asked = open_memory(extractor="rules", model=model).space(space_name)
    answer = asked.ask(QUESTION, now=NOW)
    episodes = [citation for citation in answer.context.citations if citation.kind == "episode"]
    assert {episode.session for episode in episodes} == {"s0", "s1", "s2", "s3"}
    assert [citation.kind for citation in answer.citations] == ["episode"]
    assert answer.context.tokens <= 2600


@pytest.mark.above_stores
def test_a_shape_is_for_a_block_without_a_strategy(open_memory, space_name):
    space = open_memory().space(space_name)
    with pytest.raises(ConfigurationError, match="min_confidence and shape are for a block"):
        space.context("Where?", strategy="ama", shape="overview")
    with pytest.raises(ConfigurationError, match="shape"):
        space.context("Where?", shape="summary")
