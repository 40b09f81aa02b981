"""Where the rules begin a new episode."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from cognigraph.ingest.derive import same_themes
from cognigraph.ingest.rules.summary import (
    MOST_COVERED,
    MOST_TURNS,
    PAUSE,
    Episodes,
    TurnSigns,
    covered,
)
from cognigraph.model import Theme
from cognigraph.model.messages import role_of
from cognigraph.stores.records import WorkChunk
from tests.cases import each
from tests.conftest import START


def chunk(number: int, text: str, speaker: str = "Ann", minutes: float | None = None) -> WorkChunk:
    at = START + timedelta(minutes=number if minutes is None else minutes)
    return WorkChunk(f"u{number}", f"m{number}", "s", speaker, at, text, role=role_of(speaker))


def episodes(*chunks: WorkChunk) -> list[tuple[str, tuple[str, ...]]]:
    found = Episodes()
    for chunk in chunks:
        found.add(TurnSigns.of(chunk))
    return found.all()


TRIP = ["The ferry to Gotland leaves at seven.", "Which ferry, the fast one?",
        "The fast ferry, Gotland is three hours away."]  # fmt: skip

# the next turn, its speaker, minutes of silence before it, and why an episode begins with it
NEXT = [
    ("We should book the ferry today.", "Ben", 1, ""),
    ("We should book the ferry today.", "Ben", PAUSE.total_seconds() / 60, "pause"),
    ("By the way, the ferry has a pool.", "Ben", 1, "cue"),
    ("My violin needs new strings before the concert.", "Ben", 1, "shift"),
    ("A violin concert needs new strings.", "assistant", 1, ""),  # it only answers
    ("Yes, violin strings need concert halls.", "Ben", 1, ""),  # a reply
    ("Makes sense. Who tunes your violin at home?", "Ben", 1, ""),  # a reaction to the trip
    ("Makes sense. Who tunes your violin at home?", "user", 1, "shift"),  # thanks, something else
    ("You need new violin strings before the concert.", "Ben", 1, ""),  # advice
    ("Really?", "Ben", 1, ""),  # too short to say
]


@each(("text", "speaker", "silence", "reason"), NEXT)
def test_why_an_episode_begins(text, speaker, silence, reason):
    before = [chunk(n, said, ("Ann", "Ben")[n % 2]) for n, said in enumerate(TRIP)]
    found = episodes(*before, chunk(3, text, speaker, minutes=2 + silence))
    assert [item[0] for item in found] == ["start", *filter(None, [reason])]
    assert found[-1][1][-1] == "u3"


def test_an_answer_stays_with_its_question():
    found = episodes(chunk(0, "The ferry leaves at seven."), chunk(1, "What about the cat?", "Ben"),
                     chunk(2, "Grandmother feeds Minka twice daily."))  # fmt: skip
    assert found[-1][1][-2:] == ("u1", "u2")


def test_a_turn_that_ends_one_topic_and_begins_another_is_in_both():
    found = episodes(chunk(0, "The ferry leaves at seven."), chunk(1, "Gotland is lovely.", "Ben"),
                     chunk(2, "The ferry is booked. By the way, Minka is ill."))  # fmt: skip
    assert found == [("start", ("u0", "u1", "u2")), ("cue", ("u2",))]


def test_a_long_episode_ends():
    found = episodes(*(chunk(n, f"The ferry to Gotland, part {n}.") for n in range(40)))
    assert {reason for reason, _ in found[1:]} == {"size"}
    assert max(len(uids) for _, uids in found) <= MOST_TURNS


def test_only_the_newest_turns_are_kept():
    found = episodes(*(chunk(n, f"The ferry to Gotland, part {n}.") for n in range(900)))
    turns = [uid for _, uids in found for uid in uids]
    assert MOST_COVERED - MOST_TURNS <= len(turns) <= MOST_COVERED + 1
    assert turns[-1] == "u899"


TURNS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *TRIP,
                "By the way, I sold the piano.",
                "Why?",
                "Minka ate the goldfish today.",
                "",
                "Ok.",
            ]
        ),
        st.sampled_from(["Ann", "Ben", "user", "assistant"]),
        st.sampled_from([1, 200]),
    ),
    max_size=30,
)


@given(TURNS, st.integers(0, 30))
def test_every_turn_is_covered_whatever_the_batches(talk, cut):
    minutes, chunks = 0.0, []
    for number, (text, speaker, gap) in enumerate(talk):
        minutes += gap
        chunks.append(chunk(number, text, speaker, minutes))
    found = Episodes()
    for number, item in enumerate(chunks):
        found.add(TurnSigns.of(item))
        if number == cut:
            found = Episodes.load(json.loads(json.dumps(found.dump())))
    parts = found.all()
    assert parts == episodes(*chunks)
    assert list(dict.fromkeys(uid for _, uids in parts for uid in uids)) == [c.uid for c in chunks]
    themes = covered([[0], [len(chunks) // 2]], found, len(chunks))
    assert {uid for uids, _ in themes for uid in uids} == {item.uid for item in chunks}


OLD = (Theme("Trip", "x", "t", ("a", "b", "c")), Theme("Cat", "x", "c", ("d", "e")))

CONTINUED = [
    ([Theme("Journey", "y", "t")], {0: "t"}),  # by its uid
    ([Theme("TRIP", "y")], {0: "t"}),  # by its title
    ([Theme("Ferry", "y", covers=("a", "b", "z"))], {0: "t"}),  # by what it covers
    ([Theme("Ferry", "y", covers=("a", "z"))], {}),  # too little
    ([Theme("Cat", "y", covers=("a", "b", "c")), Theme("F", "y", covers=("a", "b"))],
     {0: "c", 1: "t"}),
    ([Theme("A", "y", covers=("d",)), Theme("B", "y", covers=("d", "e"))], {1: "c"}),
    ([Theme("A", "y", "t"), Theme("Trip", "y")], {0: "t"}),  # each is continued once
    ([Theme("A", "y", "unknown")], {}),
]  # fmt: skip


@each(("new", "kept"), CONTINUED)
def test_a_theme_continues_the_one_that_it_was(new, kept):
    assert same_themes(new, OLD) == kept
    assert same_themes(new, [replace(item, uid="") for item in OLD]) == {}
