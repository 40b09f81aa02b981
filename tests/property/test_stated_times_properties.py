"""Times in sentences: only what the words allow, nothing reversed, nothing without its words."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from hypothesis import assume, example, given
from hypothesis import strategies as st

from cognigraph.english.sentences import clean, sentences, tokenise
from cognigraph.english.times.find import find_times, read_times
from cognigraph.english.times.readers import MONTHS, first_day, last_day
from cognigraph.times import parse_when
from tests.property.alphabets import ANY_TEXT

MONTH_NAMES = [month.capitalize() for month in MONTHS if len(month) > 4]
MOMENTS = st.datetimes(datetime(1950, 1, 1), datetime(2090, 12, 31)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)
ANY_MOMENT = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)
DAYS = st.tuples(st.integers(1, 28), st.sampled_from(MONTH_NAMES))
TIME_WORDS = st.lists(
    st.sampled_from(
        """on in at from to until since by between and before after last next this the first of week
        weekend month year half end Monday Friday May March June 3 31st 2019 20-27 Q3 2026-05-01
        summer Christmas ago two weeks today tomorrow morning not sorry actually , . - I we met will
        meet starts moved every usually born Eve mid-July 12/25/2026 9999""".split()
    ),
    max_size=14,
).map(" ".join)
TIMELESS = st.lists(
    st.sampled_from(
        """I we met will moved to Oslo from Ann and the boat starts is was not in at on by since
        until again sorry actually 24/7 3.10 v2 1/2 a second one week for two days
        house born 15 % $20 , . - every""".split()
    ),
    max_size=14,
).map(" ".join)


@given(st.one_of(ANY_TEXT, TIME_WORDS), ANY_MOMENT)
@example("from 31 December to 1 January we met", datetime(9999, 12, 31, tzinfo=UTC))
@example("next week and last year", datetime(1, 1, 1, tzinfo=UTC))
def test_readings_are_dates_in_order(text, at):
    for one, spans in zip(read := list(sentences(text)), read_times(read, at), strict=True):
        end = 0
        for span in spans:
            assert end <= span.start < span.end <= len(one.tokens)
            end = span.end
            assert len(set(span.readings)) == len(span.readings)
            for reading in span.readings:
                assert parse_when(reading) is not None
                assert first_day(reading) <= last_day(reading)
            assert span.when in ("", *span.readings[:1])


@given(TIMELESS, MOMENTS)
def test_no_date_without_its_words(text, at):
    assert [span.when for span in find_times(list(tokenise(clean(text))), at) if span.when] == []


@given(DAYS, MOMENTS, st.sampled_from([("We met on", -1), ("We will meet on", 1), ("Item:", 0)]))
def test_a_day_without_a_year_is_the_last_or_the_next(day, at, said):
    (number, month), (words, side) = day, said
    (span,) = find_times(list(tokenise(f"{words} {number} {month}.")), at)
    today = at.date()
    for reading in span.readings:
        found = date.fromisoformat(reading)
        assert (found.day, found.month) == (number, MONTHS[month.lower()])
        assert abs(found - today) <= timedelta(days=366)
    if span.when and side:
        assert (date.fromisoformat(span.when) - today).days * side >= 0
    if side == 0:
        assert span.when in ("", today.isoformat())


@given(DAYS, DAYS, MOMENTS, st.sampled_from(["We were away", "We'll be away", "Away"]))
def test_a_range_keeps_its_order_and_spans_no_year(start, end, at, words):
    assume(start != end)
    text = f"{words} from {start[0]} {start[1]} to {end[0]} {end[1]}."
    for span in find_times(list(tokenise(clean(text))), at):
        for reading in span.readings:
            first, last = first_day(reading), last_day(reading)
            assert timedelta(0) <= last - first <= timedelta(days=183)
            if first != last:
                assert (first.day, first.month) == (start[0], MONTHS[start[1].lower()])
                assert (last.day, last.month) == (end[0], MONTHS[end[1].lower()])


@given(MOMENTS, st.sampled_from(["on 3 June", "in May", "last week", "on Tuesday"]))
def test_a_longer_text_adds_no_date(at, words):
    (alone,) = find_times(list(tokenise(f"We met {words}.")), at)
    (one, other) = read_times(list(sentences(f"We met {words}. The boat is blue.")), at)
    assert [span.readings for span in one] == [alone.readings]
    assert other == []
