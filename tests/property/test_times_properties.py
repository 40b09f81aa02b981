"""Times: round trips, order, and no text that makes the reader of event times raise."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import example, given
from hypothesis import strategies as st

from cognigraph import InvalidMessageError
from cognigraph.times import from_micros, parse_when, to_micros, to_utc
from tests.property.alphabets import ANY_TEXT

MOMENTS = st.datetimes(timezones=st.just(UTC))
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
DATE_LIKE = st.text(st.sampled_from("0123456789-T:/ +Zz.٣二\n"), max_size=24)


@given(MOMENTS)
def test_micros_round_trip(moment):
    assert from_micros(to_micros(moment)) == moment


@given(MOMENTS, MOMENTS)
def test_micros_keep_the_order(left, right):
    assert (left < right) == (to_micros(left) < to_micros(right))


@given(st.datetimes(timezones=OFFSETS))
def test_utc_is_the_same_moment_however_written(moment):
    try:
        found = to_utc(moment)
    except InvalidMessageError:
        # only at the ends of the calendar
        assert moment.year in (1, 9999)
        return
    assert found == moment
    assert found.tzinfo is UTC
    assert to_utc(moment.isoformat()) == moment
    assert to_utc(found) == found


@given(st.one_of(ANY_TEXT, DATE_LIKE))
@example("2026-05-20T09:00:00+99:99")
@example("0001-01-01T00:00+23:59")
def test_any_text_is_a_time_or_an_invalid_message(text):
    with suppress(InvalidMessageError):
        assert to_utc(text).utcoffset() == timedelta(0)


@given(st.one_of(ANY_TEXT, DATE_LIKE))
@example("0999-01-01T10:00")
@example("9999-12-31T23:59")
@example("9999/9999")
@example("2023-05-20T23:59")
def test_event_times_never_raise_and_read_back(text):
    when = parse_when(text)
    if when is not None:
        assert when.start < when.end
        assert parse_when(when.text) == when
        assert to_micros(when.start) < to_micros(when.end)
        assert when.text.isascii()


DATES = st.dates(min_value=datetime(1, 1, 1).date(), max_value=datetime(9998, 12, 30).date())


@given(DATES)
def test_precisions_contain_each_other(day):
    year, month, whole = (parse_when(day.isoformat()[:size]) for size in (4, 7, 10))
    minute = parse_when(f"{day.isoformat()}T13:05")
    assert year and month and whole and minute
    assert year.start <= month.start <= whole.start <= minute.start
    assert minute.end <= whole.end <= month.end <= year.end
    assert whole.end - whole.start == timedelta(days=1)


@given(DATES, DATES)
def test_intervals_include_both_ends(left, right):
    first, last = sorted((left, right))
    when = parse_when(f"{first}/{last}")
    assert when is not None
    assert when.end - when.start == (last - first) + timedelta(days=1)
    if first != last:
        assert parse_when(f"{last}/{first}") is None
