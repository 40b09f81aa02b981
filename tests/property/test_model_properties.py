"""Properties of reading a model's answers: any text, any numbers, nothing trusted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.ids import normalise
from cognigraph.ingest.model.answer_schema import ReadAnswer, SummaryAnswer
from cognigraph.ingest.model.parse_lines import normalise_relation
from cognigraph.ingest.model.summarise import (
    MAX_KEYS,
    MAX_SUMMARY,
    MAX_THEMES,
    MAX_UNREAD,
    SummaryDraft,
    SummaryState,
    merged,
    remembered,
)
from cognigraph.ingest.model.transcript import Turn, WindowNames, halves, numbered, split
from cognigraph.ingest.model.validate import CheckedAnswer, resolve_when
from cognigraph.times import parse_when
from tests.property.alphabets import ANY_TEXT, STORABLE_TEXT

AT = datetime(2024, 2, 28, 23, 30, tzinfo=UTC)
VERBS = """is was are not never no longer has have had did does do work works worked working lived
live moved move to going will can't doesn't really used bought buys in at of sister plan been born
be left studying I'm 's getting""".split()
TIMES = """last next this Tuesday Monday May 29 February 2024 yesterday tomorrow two weeks ago the
day before after every from to until in on a few years 2024-02-30 12:30 , month evening""".split()
NAMES = [
    "Ann",
    "ann",
    "Ben",
    "Ann Lee",
    "I",
    "you",
    "she",
    "my sister",
    "the cat",
    "Pickle",
    "",
    "🙂",
]

relations = st.one_of(st.lists(st.sampled_from(VERBS), max_size=7).map(" ".join), ANY_TEXT)
times = st.one_of(st.lists(st.sampled_from(TIMES), max_size=7).map(" ".join), ANY_TEXT)
names = st.one_of(st.sampled_from(NAMES), STORABLE_TEXT)
dates = st.sampled_from(
    [
        "",
        "2024-02",
        "2024-02-29",
        "2024-02-27/2024-03-01",
        "2024-02-28T10:00",
        "x",
        "0001-01-01T00:10",
    ]
)
zones = st.sampled_from([UTC, *(ZoneInfo(z) for z in ("Asia/Tokyo", "America/Los_Angeles"))])


@pytest.mark.slow
@given(relations)
def test_a_normal_relation_stays(text):
    once = normalise_relation(text)
    assert normalise_relation(once.text) == (once.text, False)
    assert once.text == " ".join(once.text.split())


@given(relations)
def test_case_and_separators_do_not_matter(text):
    lower = " ".join(text.lower().split())
    assert normalise_relation(lower.replace(" ", "_")) == normalise_relation(lower)


@given(times, dates, times, zones)
def test_an_event_time_is_a_date_or_nothing(words, date, text, zone):
    found = resolve_when(words, date, AT.astimezone(zone), text)
    assert found is None or parse_when(found).text == found


@given(st.lists(st.integers(0, 400), max_size=40), st.integers(100, 2000))
def test_parts_cover_every_turn_and_share_one(sizes, limit):
    turns = [Turn("Ann", AT, "word " * size) for size in sizes]
    parts = split(turns, limit)
    assert sorted({index for part in parts for index in part}) == list(range(len(turns)))
    for left, right in pairwise(parts):
        assert right.start == left.stop - 1
    for part in parts:
        tokens = sum(turns[index].tokens for index in part)
        assert tokens <= limit or len(part) <= 2
        pieces = halves(part)
        assert pieces is None or all(len(piece) < len(part) for piece in pieces)


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT), min_size=1, max_size=5))
def test_every_turn_is_one_line(chat):
    turns = [Turn(" ".join(who.split()) or "user", AT, text) for who, text in chat]
    lines = numbered(turns).splitlines()
    assert len(lines) == len(turns) + 1
    assert [line.split(" ")[0] for line in lines[1:]] == [f"[{n + 1}]" for n in range(len(turns))]


turn_numbers = st.one_of(
    st.lists(st.integers(-2, 6), max_size=4).map(lambda numbers: ",".join(map(str, numbers))),
    st.sampled_from(["[1] [2]", "1-3", "x", "", "2 - 3"]),
)
facts = st.one_of(
    st.tuples(turn_numbers, names, relations, names),
    st.tuples(turn_numbers, names, relations, names, st.builds("{} = {}".format, times, dates)),
    st.tuples(turn_numbers, names, relations, names, times, names),
    st.lists(ANY_TEXT, max_size=7),
).map(" | ".join)
entities = st.one_of(
    st.lists(names, min_size=1, max_size=4).map(" | ".join),
    st.builds("{} | {} | {}; {}".format, names, names, names, names),
)
answers = st.fixed_dictionaries(
    {"entities": st.lists(entities, max_size=5), "facts": st.lists(facts, max_size=6)}
)


@pytest.mark.slow
@given(st.lists(answers, min_size=1, max_size=3))
def test_what_is_kept_is_sound(given_answers):
    turns = [
        Turn("Ann", AT, "My sister Pickle likes the cat."),
        Turn("Ben", AT + timedelta(hours=1), "I met Ann Lee last Monday."),
        Turn("Ann", AT + timedelta(days=1), "🙂"),
    ]
    reading = CheckedAnswer(turns)
    parts = [range(0, 3), range(0, 2), range(1, 3)]
    for answer, part in zip(given_answers, parts, strict=False):
        own = [turns[index] for index in part]
        reading.take(
            ReadAnswer.model_validate(answer), part, WindowNames(own, turns, reading.entities)
        )
    facts = reading.facts
    cited = {index for part in parts[: len(given_answers)] for index in part}
    for fact in facts:
        assert fact.chunks and set(fact.chunks) <= cited
        assert fact.chunks == tuple(sorted(set(fact.chunks)))
        assert fact.relation and fact.relation == normalise_relation(fact.relation).text
        assert normalise(fact.subject) != normalise(fact.object)
        assert normalise(fact.subject) not in ("i", "she", "you")
        assert fact.when is None or parse_when(fact.when).text == fact.when
    types: dict[str, set[str]] = {}
    for fact in facts:
        types.setdefault(normalise(fact.subject), set()).add(fact.subject_type)
        types.setdefault(normalise(fact.object), set()).add(fact.object_type)
    for mention in reading.mentions:
        types.setdefault(normalise(mention.name), set()).add(mention.type)
        assert mention.chunks and set(mention.chunks) <= {0, 1, 2}
    assert all(len(found) == 1 for found in types.values())
    assert types.get("ann", {"person"}) == types.get("ben", {"person"}) == {"person"}


summaries = st.fixed_dictionaries(
    {
        "keys": st.lists(names, max_size=30),
        "themes": st.lists(
            st.fixed_dictionaries(
                {
                    "summary": st.one_of(
                        STORABLE_TEXT, st.sampled_from(["word " * 500, "One. " * 40])
                    )
                },
                optional={"n": st.integers(-1, 12), "title": names},
            ),
            max_size=12,
        ),
    }
)


@pytest.mark.slow
@given(st.lists(summaries, min_size=1, max_size=4))
def test_no_answer_empties_a_summary_or_makes_it_endless(given_answers):
    summary = SummaryDraft()
    for answer in given_answers:
        before = summary
        summary, _ = merged(summary, SummaryAnswer.model_validate(answer), ("Ann",))
        assert len(before.themes) <= len(summary.themes) <= MAX_THEMES
        assert len(summary.keys) <= MAX_KEYS
        assert all(0 < len(theme.summary) <= MAX_SUMMARY for theme in summary.themes)
        assert len({normalise(name) for name, _ in summary.keys}) == len(summary.keys)


@given(st.lists(st.tuples(ANY_TEXT, st.integers(0, 30)), max_size=20))
def test_the_state_is_bounded_and_comes_back(rows):
    turns = remembered([Turn("Ann", AT, text * times) for text, times in rows])
    assert sum(len(turn.text) for turn in turns) <= MAX_UNREAD
    state = SummaryState(turns)
    assert SummaryState.load(state.dump()) == state
