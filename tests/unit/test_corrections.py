"""Messages that correct what was said before them rank before it."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph import Memory
from cognigraph.embed.word_vectors import word_vectors
from cognigraph.retrieve.rank.signals import (
    corrections,
    corrects,
    is_correction,
    lifts,
    what_is_corrected,
)
from tests.cases import each
from tests.unit.pools import chunk_pool


@each(
    "text",
    [
        "Sorry, 25 April, it's the Saturday, I can't count. Also the roof is on.",
        "Sorry, the lamp was 489 not 498, I have the receipt here.",
        "Done. Sorry, it closes on the 27th not the 25th",
        "oh sorry, I said Tuesday, it's Thursday the 20th.",
        "Sorry! That should have been Leeds.",
        "Sorry, I mixed those up. The 22nd is the rehearsal.",
        "Correction: the train leaves at 9.40.",
        "Small correction, it is her niece.",
        "Wait, I misread that. It's 30 grams.",
        "My mistake, the flat is on the third floor.",
        "I meant Wednesday.",
        "Scratch that, we go in June",
    ],
)
def test_it_corrects_something(text: str) -> None:
    assert is_correction(text)


@each(
    "text",
    [
        "Sorry to hear that, John.",
        "Sorry about the wait, the bus was late.",
        "Sorry, I'm not feeling well today.",
        "Sorry I missed your call!",
        "I meant to call you yesterday.",
        "I'm so sorry for your loss. It must be hard.",
        "The build says: sorry, too many clients already",
        "We used correction fluid on it.",
        "That was no mistake.",
        "I thought long about it, and what I want to say is this. " * 4 + "I meant Wednesday.",
        "",
    ],
)
def test_it_corrects_nothing(text: str) -> None:
    assert not is_correction(text)


@given(st.lists(st.text(max_size=60) | st.just("I meant Bonn."), max_size=6))
@pytest.mark.slow
def test_the_words_only_say_which_texts_to_look_at(texts: list[str]) -> None:
    found = corrections(texts, word_vectors().read([*texts, "My bad"]))
    assert found.tolist() == [float(is_correction(text)) for text in texts]


def test_it_corrects_the_last_that_its_speaker_said_in_the_session() -> None:
    speakers = ("user", "assistant", "user", "user", "assistant", "user", "assistant", "user")
    chunks = chunk_pool(
        [0.5] * 8,
        speakers=speakers,
        session=[0, 0, 0, 0, 0, 0, 1, 1],
        at=np.arange(8.0),
    )
    corrects = np.array([1, 0, 0, 0, 1, 1, 0, 1.0])
    found = what_is_corrected(chunks, corrects)
    # Nothing precedes the first; an assistant apologises; two chunks may be of one long message.
    assert found == [(5, [3, 2])]
    assert what_is_corrected(chunks, np.full(8, np.nan)) == []


def test_no_correction_ranks_below_what_it_corrects() -> None:
    scores = np.array([0.9, 0.2, 0.1, 0.5, 0.8])
    corrected = [(1, [0]), (2, [1]), (4, [3])]  # the third corrects the correction
    lifted = scores + lifts(scores, corrected)
    assert np.argsort(-lifted).tolist() == [2, 1, 0, 4, 3]
    assert lifted[[0, 3, 4]].tolist() == [0.9, 0.5, 0.8]


def test_a_search_finds_the_correction_first(tmp_path) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    said = [
        ("Claire moved the wedding, the venue flooded. New date: Saturday 24 April.", "user"),
        ("What a pity about the venue! I can help you to tell the guests.", "assistant"),
        ("Sorry, 25 April, I can't count. And the roof is on, what do I check now?", "user"),
        ("Check the flashing and the gutters, and take photographs.", "assistant"),
        ("The wedding cake comes from Leeds.", "user"),
    ]
    with Memory(tmp_path / "m.db", enrich="manual") as memory:
        for number, (text, role) in enumerate(said):
            memory.add(text, id=f"m{number}", session="s", role=role, at=at)
        found = memory.search("On what date did Claire put the wedding?", now=at)
    ids = [hit.id for hit in found]
    assert ids[:2] == ["m2", "m0"]
    why = found[0].why
    assert "corrects what the same speaker said before, and comes before it" in why.notes
    assert not any("corrects" in note for hit in found[1:] for note in hit.why.notes)
    assert why.signals["correction"] == 1


@each(
    ("before", "text", "at_once"),
    [
        ("The wedding is on 24 April.", "Sorry, the 25th", False),
        ("let's meet on monday", "no wait, tuesday", False),
        ("I have 40 hens.", "I meant 14 not 40", False),
        ("We have three kids.", "sorry, four", False),
        ("I live with Bob.", "Sorry, with Ben.", False),
        ("She drives the blue car.", "Actually, the red car", False),
        ("Die Hochzeit ist am 24. Mai", "Quatsch, am 25.", False),
        ("婚礼在4月24日", "不对，25号", False),
        ("El tren sale a las 9.", "Perdón, a las 10", True),
        ("Le mariage est le 24 avril.", "Pardon, le 25", True),
        ("The wedding is on 24 April.", "25 April!", True),
    ],
)
def test_a_short_message_corrects_the_one_before_it(before: str, text: str, at_once: bool) -> None:
    assert corrects(text, before, at_once=at_once)


@each(
    ("before", "text", "at_once"),
    [
        ("The wedding is on 24 April.", "Sorry to hear that, John.", True),
        ("The wedding is on 24 April.", "Is it the 25th?", True),
        ("El tren sale a las 9.", "Perdón, a las 10", False),
        ("Book a table for 4.", "19:00", False),
        ("We have 3 kids.", "The youngest is 5.", True),
        ("I have 2 cats.", "OK, see you at 5", True),
        ("I moved to Oslo.", "Thanks!", True),
        ("My dog is 3.", "Actually, I love pizza", True),
        ("We have 3 kids.", "Sorry, 3", True),
        ("We have 3 kids.", "", True),
    ],
)
def test_a_short_message_corrects_nothing(before: str, text: str, at_once: bool) -> None:
    assert not corrects(text, before, at_once=at_once)
