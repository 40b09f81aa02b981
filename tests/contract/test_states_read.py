"""What a question gets of facts that changed, on every store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cognigraph.ingest.rules.extractor import RulesExtractor

NOW = "2026-11-01T09:00:00Z"


@pytest.fixture
def homes(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)
    for id, text, day in (
        ("b", "I live in Bergen.", "2026-02-01"),
        ("o", "I moved to Oslo last week.", "2026-06-10"),
    ):
        space.add(text, id=id, speaker="Ann", at=f"{day}T09:00:00Z", session=f"s-{id}")
    space.flush()
    return space


def lines(context):
    return [line for line in context.splitlines() if line.startswith(("[T", "[C"))]


@pytest.mark.above_stores
def test_the_block_shows_the_current_home_and_marks_the_old_one(homes):
    assert lines(homes.context("Where does Ann live?", now=NOW)) == [
        "[T1] Ann moved to Oslo (2026-06-01/2026-06-07; said 2026-06-10)",
        "[C1] 2026-02-01 09:00 s-b Ann: I live in Bergen. [no longer true: see T1]",
        "[C2] 2026-06-10 09:00 s-o Ann: I moved to Oslo last week.",
    ]


@pytest.mark.above_stores
@pytest.mark.slow
def test_the_block_shows_the_old_home_where_it_is_asked_for(homes):
    assert lines(homes.context("Where did Ann live before?", now=NOW))[:2] == [
        "[T1] Ann lives in Bergen (2026-02 until 2026-06; said 2026-02-01)",
        "[T2] Ann moved to Oslo (2026-06-01/2026-06-07; said 2026-06-10)",
    ]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where does Ann live?", "o"),
        ("Where does Ann live now?", "o"),
        ("Where is Ann living these days?", "o"),
        ("Where did Ann live before?", "b"),
        ("Where did Ann use to live, previously?", "b"),
    ],
)
@pytest.mark.above_stores
@pytest.mark.slow
def test_the_message_that_the_question_means_comes_first(homes, question, first):
    assert homes.search(question, now=NOW)[0].id == first


@pytest.mark.slow
def test_as_of_sees_the_old_home_as_current(homes):
    march = datetime(2026, 3, 1, tzinfo=UTC)
    # The message says what the fact says, so that the fact is left out.
    (fact,) = homes.search("Where does Ann live?", now=NOW, as_of=march).triples
    assert (fact.text, fact.status) == ("Ann lives in Bergen", "current")
    assert lines(homes.context("Where does Ann live?", now=NOW, as_of=march)) == [
        "[C1] 2026-02-01 09:00 s-b Ann: I live in Bergen.",
    ]
