"""A block shows no statement without the message that corrects it, on every store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import ContextSettings, Filter, Settings
from tests.conftest import START

LATER = START + timedelta(days=30)
WEDDING = "The wedding of Clara and Omar is on 24 October in the old boathouse."
QUESTION = "Where is the wedding of Clara and Omar?"
NOISE = [
    "I bought a green kettle at the market.",
    "The bus to the harbour was late again.",
    "We painted the fence on the weekend.",
    "Pancakes for breakfast, with lemon.",
]


@pytest.fixture
def tell(open_memory, space_name):
    """Store messages (speaker, text), a minute apart, as m0, m1 and so on of one session."""
    memory = open_memory(enrich="manual")

    def told(*messages, name=space_name):
        space = memory.space(name)
        said = [*messages, *(("user", text) for text in NOISE)]
        for number, (speaker, text) in enumerate(said):
            at = START + timedelta(minutes=number)
            space.add(text, id=f"m{number}", session="s", speaker=speaker, at=at)
        return space

    return told


def shown(block):
    return [citation.id for citation in block.citations if citation.kind == "message"]


def test_a_correction_comes_along_with_what_it_corrects(tell):
    space = tell(("user", WEDDING), ("assistant", "Lovely!"), ("user", "Sorry, the 25th."))
    block = space.context(QUESTION, k=1, max_tokens=300, now=LATER)
    assert shown(block) == ["m0", "m2"]
    assert block.split("\n")[-3:-1] == [
        f"[C1] 2026-05-20 09:00 s user: {WEDDING}",
        "[C2] 09:02 user: Sorry, the 25th.",
    ]
    assert [hit.id for hit in block.hits] == ["m0", "m2"]
    assert block.hits[1].why.notes[-1] == "corrects m0"
    assert block.tokens <= 300


@pytest.mark.above_stores
@pytest.mark.slow
def test_corrections_of_corrections_and_those_that_say_no_word_of_it(tell):
    space = tell(("user", WEDDING), ("user", "the 25th!"), ("user", "no wait, the 26th"))
    by_rank = Settings(context=ContextSettings(order="relevance"))
    for settings in (None, by_rank):
        block = space.context(QUESTION, k=1, max_tokens=300, now=LATER, settings=settings)
        assert shown(block) == ["m0", "m1", "m2"]


@pytest.mark.slow
@pytest.mark.above_stores
def test_what_does_not_fit_with_its_correction_is_not_shown_alone(tell):
    space = tell(("user", WEDDING), ("user", "Sorry, the 25th."))
    whole = space.context(QUESTION, k=1, max_tokens=300, now=LATER)
    assert shown(whole) == ["m0", "m1"]
    exact = space.context(QUESTION, k=1, max_tokens=whole.tokens, now=LATER)
    assert exact == whole
    assert space.context(QUESTION, k=1, max_tokens=whole.tokens - 1, now=LATER) == ""


@pytest.mark.parametrize(
    "after",
    [
        [("user", "Thanks a lot!")],
        [("user", "Is it the 25th?")],
        [("assistant", "Sorry, the 25th.")],
        [("assistant", "Noted."), ("assistant", "And?"), ("user", "Sorry, the 25th.")],
        [("user", "Sorry, but the 25th of each month is when I pay the rent for the flat here.")],
    ],
)
@pytest.mark.above_stores
def test_what_is_no_correction_does_not_come_along(tell, after):
    space = tell(("user", WEDDING), *after)
    assert shown(space.context(QUESTION, k=1, max_tokens=300, now=LATER)) == ["m0"]


@pytest.mark.above_stores
@pytest.mark.slow
def test_a_correction_passes_the_filter_and_as_of(tell):
    space = tell(("user", WEDDING), ("user", "Sorry, the 25th."))
    known = {"k": 1, "max_tokens": 300, "now": LATER}
    before = START + timedelta(seconds=30)
    assert shown(space.context(QUESTION, as_of=before, **known)) == ["m0"]
    assert shown(space.context(QUESTION, where=Filter(until=before), **known)) == ["m0"]
    assert shown(space.context(QUESTION, where=Filter(speaker="user"), **known)) == ["m0", "m1"]
    other = space.context(QUESTION, where=Filter(speaker="assistant"), **known)
    assert shown(other) == []


@pytest.mark.above_stores
def test_a_correction_that_was_seen_is_left_out(tell):
    space = tell(("user", WEDDING), ("user", "Sorry, the 25th."))
    block = space.context(QUESTION, k=1, max_tokens=300, now=LATER, without=["m1"])
    assert "25th" not in block
