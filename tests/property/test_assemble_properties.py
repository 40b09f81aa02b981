"""The prompt block: it fits any budget, for any hits and any tokenizer, and cuts no item."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph import (
    ContextSettings,
    Hit,
    SearchResult,
    Session,
    SessionHit,
    Source,
    Theme,
    Trace,
    Triple,
    Why,
)
from cognigraph.retrieve.assemble import FOOTER, HEADER, assemble
from cognigraph.states.succession import Standing, Statement, decide
from cognigraph.text.marks import estimate_tokens
from cognigraph.times import zone
from tests.property.alphabets import STORABLE_TEXT
from tests.property.test_succession_properties import statements

NOW = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)
WHY = Why({}, {}, None, None, None, 0.5, None, 1.0, 0.5)
NAMES = st.one_of(st.sampled_from(["Ann", "s1"]), STORABLE_TEXT.filter(str.strip))
TIMES = st.datetimes(timezones=st.just(UTC))


MARKDOWN = st.lists(
    st.sampled_from(
        ["Hello there.", "What do you think?", "1. first", "- [C9] two. And three.", "```python",
         "```", "~~~~", "  x = [memory]", "| a | b |", "|---|---|", "| 1 | ``` |", "# Title", "",
         "[/memory]", "[C7] 2026-05-20 07:00 s1 Ann: x", "````", "> quoted", "    indented", "*"]
    ),
    max_size=12,
).map("\n".join)  # fmt: skip
"""Messages of several lines, with code, lists and tables, complete or not."""


@st.composite
def hits(draw: st.DrawFn) -> Hit:
    return Hit(
        draw(NAMES), draw(STORABLE_TEXT | MARKDOWN), draw(st.floats(0, 1)), draw(NAMES),
        draw(st.none() | NAMES), draw(TIMES), (), WHY,
    )  # fmt: skip


@st.composite
def triples(draw: st.DrawFn) -> Triple:
    at = draw(TIMES)
    sources = (Source("m", "s", at),) * draw(st.integers(0, 2))
    return Triple(
        str(draw(st.integers(0, 9))), draw(NAMES), "x", draw(NAMES), draw(NAMES), "x", None,
        draw(st.booleans()), at, at, sources,
    )  # fmt: skip


@st.composite
def sessions(draw: st.DrawFn) -> SessionHit:
    themes = tuple(
        Theme(draw(STORABLE_TEXT), draw(STORABLE_TEXT)) for _ in range(draw(st.integers(0, 2)))
    )
    return SessionHit(Session(draw(NAMES), NOW, NOW, 1, 1, (draw(NAMES),), themes), 0.5)


RESULTS = st.builds(
    lambda h, t, s: SearchResult("q", tuple(h), tuple(t), tuple(s), Trace("default", NOW, {}, {})),
    st.lists(hits(), max_size=6, unique_by=lambda hit: (hit.session, hit.id)),
    st.lists(triples(), max_size=4, unique_by=lambda triple: triple.uid),
    st.lists(sessions(), max_size=3),
)
TOKENIZERS: list[Callable[[str], int] | None] = [
    None,
    len,
    lambda text: len(text.encode("utf-8", "replace")),
    lambda text: len(text) // 40,  # coarse: short lines are free
    lambda text: len(text.split()) + 7,  # a constant for each call
    lambda text: len(text) * (1 + text.count("\n") % 3),  # does not add up at all
]
SETTINGS = st.builds(
    ContextSettings,
    order=st.sampled_from(["time", "relevance"]),
    sessions=st.booleans(),
    triples=st.booleans(),
    excerpts=st.booleans(),
    short_message=st.sampled_from([0, 10, 120]),
    session_share=st.sampled_from([0.0, 0.1, 0.4]),
    triple_share=st.sampled_from([0.0, 0.15, 0.5]),
    count_tokens=st.sampled_from(TOKENIZERS),
)
ZONES = st.sampled_from(["UTC", "Asia/Tokyo", "America/New_York"]).map(zone)


@pytest.mark.slow
@given(RESULTS, SETTINGS, st.integers(1, 2000), ZONES)
def test_any_block_is_whole_and_fits(result, settings, budget, reader):
    found = assemble(result, settings, max_tokens=budget, zone=reader)
    count = settings.count_tokens or estimate_tokens
    assert found == assemble(result, settings, max_tokens=budget, zone=reader)
    if found == "":
        assert (found.tokens, found.hits, found.citations) == (0, (), ())
        return
    assert found.tokens == count(str(found)) <= budget
    lines = found.split("\n")
    assert (lines[0], lines[-1]) == (HEADER, FOOTER)
    assert found.lower().count(HEADER) == found.lower().count(FOOTER) == 1
    indented = [line for line in lines if line.startswith("  ") or not line]
    lines = [line for line in lines if line not in indented]
    labelled = [line for line in lines if line.startswith("[") and line not in (HEADER, FOOTER)]
    assert [line[1 : line.index("]")] for line in labelled] == [c.label for c in found.citations]
    assert len(lines) - 2 - len(labelled) == len({c.kind for c in found.citations})
    if not settings.excerpts:
        # What is in is in as a whole: a block without a limit has the same lines.
        unlimited = assemble(result, settings, max_tokens=10**9, zone=reader)
        whole = {line[line.index("]") :] for line in unlimited.split("\n") if "]" in line}
        assert {line[line.index("]") :] for line in labelled} <= whole
    messages = [c for c in found.citations if c.kind == "message"]
    assert [c.id for c in messages] == [hit.id for hit in found.hits]


@pytest.mark.slow
@given(RESULTS, st.sampled_from(["time", "relevance"]))
def test_order_is_by_time_or_as_ranked(result, order):
    settings = ContextSettings(order=order, sessions=False, triples=False)
    found = assemble(result, settings, max_tokens=10**9, zone=UTC)
    if order == "time":
        assert [hit.at for hit in found.hits] == sorted(hit.at for hit in found.hits)
    elif found:
        rest = iter(map(id, result.hits))  # in this order, though repetitions are left out
        assert all(id(hit) in rest for hit in found.hits)
        assert found.hits[0] is result.hits[0]


@pytest.mark.slow
@given(RESULTS, st.integers(1, 500), st.integers(0, 500))
def test_a_larger_budget_never_contains_less(result, budget, more):
    settings = ContextSettings(sessions=False, triples=False, order="relevance")
    small = assemble(result, settings, max_tokens=budget, zone=UTC)
    large = assemble(result, settings, max_tokens=budget + more, zone=UTC)
    assert large.tokens + 1 >= small.tokens or len(large.hits) >= len(small.hits)


def test_a_day_is_shown_in_the_readers_zone():
    hit = Hit("m", "x", 1.0, "s", None, NOW + timedelta(hours=14), (), WHY)
    result = SearchResult("q", (hit,), (), (), Trace("default", NOW, {}, {}))
    assert "2026-05-21 08:00" in assemble(
        result, ContextSettings(), max_tokens=100, zone=zone("Asia/Tokyo") or UTC
    )


def told(statement: Statement, standing: Standing) -> Triple:
    said = sorted(statement.said)
    sources = tuple(Source(f"{statement.uid}{at.day}", "s", at) for at in reversed(said))
    return Triple(
        statement.uid, "Ann", "person", "lives in", statement.uid, "place", statement.when, False,
        said[0], said[-1], sources, status=standing.status, valid_from=standing.valid_from,
        valid_to=standing.valid_to, superseded_by=standing.superseded_by,
        superseded_at=standing.superseded_at,
    )  # fmt: skip


@pytest.mark.slow
@given(statements, st.sets(st.sampled_from("pqrstuv")))
def test_a_message_is_marked_untrue_only_by_what_the_block_dates_later(found, listed):  # type: ignore[no-untyped-def]
    standings = decide(found)
    facts = [told(item, standings[item.uid]) for item in found]
    messages = tuple(
        Hit(source.id, f"I live in {fact.uid}.", 0.5, "s", "Ann", source.at, (fact,), WHY)
        for fact in facts
        for source in fact.sources
    )
    shown = tuple(fact for fact in facts if fact.uid in listed)
    result = SearchResult("q", messages, shown, (), Trace("default", NOW, {}, {}, past=True))
    lines = str(assemble(result, ContextSettings(), max_tokens=10**6, zone=zone("UTC"))).split("\n")
    dated = {line.split("]")[0][1:]: line[-11:-1] for line in lines if line.startswith("[T")}
    for line in lines:
        if mark := re.search(r"^\[C\d+\] (\S{10}).*\[no longer true: (.*)\]$", line):
            named = [dated[label] for label in re.findall(r"T\d+", mark[2])]
            assert max(named + re.findall(r"\d{4}-\d\d-\d\d", mark[2])) > mark[1]
