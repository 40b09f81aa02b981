"""No fact line of a block shows a date or a number that none of its sources carries."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cognigraph import ContextSettings, SearchResult, Source, Trace, Triple
from cognigraph.retrieve.assemble import assemble
from cognigraph.retrieve.block_lines import Background, SpokenText
from cognigraph.times import parse_when

NOW = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)
WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@st.composite
def sources(draw: st.DrawFn) -> tuple[SpokenText, set[date], set[int]]:
    """What somebody said, with the days and the numbers that it states; a day is that of saying."""
    at = NOW - timedelta(days=draw(st.integers(0, 600)))
    said, other = at.date(), at.date() - timedelta(days=draw(st.integers(3, 200)))
    number = draw(st.integers(2, 10))
    text, days, numbers = draw(
        st.sampled_from(
            [
                ("Ann got hens yesterday.", {said - timedelta(days=1)}, set[int]()),
                ("Ann will get hens tomorrow.", {said + timedelta(days=1)}, set()),
                (f"Ann got hens on {other:%d %B %Y}.", {other}, {other.day}),
                (f"Ann got hens on {other.isoformat()}.", {other}, {other.day, other.month}),
                (f"Ann got hens {WORDS[number]} days ago.", {said - timedelta(number)}, {number}),
                (f"Ann has {WORDS[number]} hens.", set(), {number}),
                (f"Ann has {number} hens.", set(), {number}),
                ("Ann likes the hens.", set(), set()),
            ]
        )
    )
    return SpokenText(text, at), {said, *days}, numbers


@st.composite
def told(draw: st.DrawFn) -> tuple[Triple, list[tuple[SpokenText, set[date], set[int]]]]:
    own = draw(st.lists(sources(), min_size=1, max_size=3))
    days = sorted(set().union(*(item[1] for item in own)))
    day = draw(st.sampled_from(days) | st.dates(date(2024, 9, 1), date(2026, 6, 30)))
    when = draw(st.sampled_from([None, f"{day}", f"{day:%Y-%m}", f"{day:%Y}"]))
    number = draw(st.none() | st.integers(2, 12))
    at = [item[0].at for item in own]
    fact = Triple(
        "t", "Ann", "person", "keeps", "hens" if number is None else f"{number} hens", "object",
        parse_when(when), False, min(at), max(at), (Source("m", "s", max(at)),),
    )  # fmt: skip
    return fact, own


@given(told())
def test_no_fact_shows_a_date_or_number_that_no_source_carries(given_fact):
    fact, own = given_fact
    result = SearchResult("q", (), (fact,), (), Trace("default", NOW, {}, {}))
    background = Background(sources={"t": tuple(said for said, _, _ in own)})
    block = assemble(result, ContextSettings(), max_tokens=500, zone=UTC, background=background)
    days = set().union(*(days for _, days, _ in own))
    numbers = set().union(*(numbers for _, _, numbers in own))
    lines = [line for line in str(block).split("\n") if line.startswith("[T")]
    wanted = [int(item) for item in re.findall(r"\d+", fact.object)]
    assert len(lines) == int(all(item in numbers for item in wanted))
    for line in lines:
        shown = re.search(r"\((?:since |from )?(?P<when>[\d-]+); said", line)
        carried = fact.when is None or any(
            day.isoformat().startswith(fact.when.text) for day in days
        )
        assert (shown["when"] if shown else None) == (
            fact.when.text if fact.when and carried else None
        )


@given(told())
def test_a_fact_without_a_message_at_hand_shows_no_date(given_fact):
    fact, _ = given_fact
    result = SearchResult("q", (), (fact,), (), Trace("default", NOW, {}, {}))
    block = assemble(result, ContextSettings(), max_tokens=500, zone=UTC)
    assert f"{fact.text} (said {fact.last_observed.date()})" in block
