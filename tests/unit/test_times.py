"""Conversion of timestamps to UTC and microseconds, and event times of limited precision."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from cognigraph import ConfigurationError, InvalidMessageError
from cognigraph.times import from_micros, parse_when, system_clock, to_micros, to_utc, zone
from tests.cases import each


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


@each(
    ("given", "expected"),
    [
        ("2026-05-20T09:00:00+02:00", utc(2026, 5, 20, 7)),
        (" 2026-05-20T09:00:00Z\n", utc(2026, 5, 20, 9)),
        ("20260520T090000Z", utc(2026, 5, 20, 9)),
        (datetime(2026, 5, 20, 9, tzinfo=ZoneInfo("Europe/Oslo")), utc(2026, 5, 20, 7)),
        (datetime(2026, 1, 20, 9, tzinfo=timezone(timedelta(hours=-5, minutes=-30))),
         utc(2026, 1, 20, 14, 30)),
    ],
)  # fmt: skip
def test_aware_times_become_utc(given, expected):
    found = to_utc(given)
    assert found == expected
    assert found.utcoffset() == timedelta(0)


@pytest.mark.parametrize("naive", ["2026-05-20T09:00:00", "2026-05-20", datetime(2026, 5, 20)])
def test_naive_times_are_refused_with_advice(naive):
    with pytest.raises(InvalidMessageError, match=r"no timezone.*timezone="):
        to_utc(naive)


def test_naive_times_are_in_the_memorys_timezone():
    oslo = ZoneInfo("Europe/Oslo")
    assert to_utc("2026-07-01T12:00", oslo) == utc(2026, 7, 1, 10)
    assert to_utc("2026-01-01T12:00", oslo) == utc(2026, 1, 1, 11)
    # The memory's timezone never changes an aware time.
    assert to_utc("2026-07-01T12:00Z", oslo) == utc(2026, 7, 1, 12)


@each("wrong", ["", "yesterday", "2026-13-01T00:00Z", "2026-05-20T25:00Z", "\0"])
def test_unreadable_times(wrong):
    with pytest.raises(InvalidMessageError, match="ISO 8601"):
        to_utc(wrong)


@each("wrong", [1747724400, 3.5, b"2026", None])
def test_other_types(wrong):
    with pytest.raises(InvalidMessageError, match="datetime or an ISO 8601 string"):
        to_utc(wrong)


@pytest.mark.parametrize("edge", ["0001-01-01T00:00+14:00", "9999-12-31T23:00-10:00"])
def test_times_outside_the_calendar(edge):
    with pytest.raises(InvalidMessageError, match="out of range"):
        to_utc(edge)


def test_timezones():
    assert zone(None) is None
    assert zone("utc") is UTC
    assert zone("Europe/Oslo") == ZoneInfo("Europe/Oslo")
    own = timezone(timedelta(hours=3))
    assert zone(own) is own


@each("name", ["Europe", "Nowhere/Town", "", "../../etc/passwd", "\0", "\ud800"])
def test_unknown_timezones(name):
    with pytest.raises(ConfigurationError, match="unknown timezone"):
        zone(name)


def test_microseconds_are_exact_for_all_valid_times():
    for moment in (
        utc(1, 1, 1),
        utc(1969, 12, 31, 23, 59, 59, 999_999),
        utc(1970, 1, 1),
        utc(2026, 5, 20, 9, 0, 0, 1),
        utc(9999, 12, 31, 23, 59, 59, 999_999),
    ):
        assert from_micros(to_micros(moment)) == moment
    assert to_micros(utc(1970, 1, 1, 0, 0, 1)) == 1_000_000
    assert to_micros(utc(1969, 12, 31, 23, 59, 59, 999_999)) == -1


def test_the_system_clock_is_aware():
    assert system_clock().utcoffset() == timedelta(0)


@each(
    ("given", "text", "start", "end"),
    [
        ("2023", "2023", utc(2023, 1, 1), utc(2024, 1, 1)),
        ("2023-05", "2023-05", utc(2023, 5, 1), utc(2023, 6, 1)),
        ("2023-12", "2023-12", utc(2023, 12, 1), utc(2024, 1, 1)),
        ("2024-02-29", "2024-02-29", utc(2024, 2, 29), utc(2024, 3, 1)),
        ("2023-05-20T09:30", "2023-05-20T09:30", utc(2023, 5, 20, 9, 30), utc(2023, 5, 20, 9, 31)),
        ("2023-05-20 09:30", "2023-05-20T09:30", utc(2023, 5, 20, 9, 30), utc(2023, 5, 20, 9, 31)),
        ("2023-05-20T09:30:15Z", "2023-05-20T09:30", utc(2023, 5, 20, 9, 30),
         utc(2023, 5, 20, 9, 31)),
        (" 2023-05 ", "2023-05", utc(2023, 5, 1), utc(2023, 6, 1)),
        ("2022-01-14/2022-01-20", "2022-01-14/2022-01-20", utc(2022, 1, 14), utc(2022, 1, 21)),
        ("2022/2023-03", "2022/2023-03", utc(2022, 1, 1), utc(2023, 4, 1)),
        ("2022 / 2022", "2022/2022", utc(2022, 1, 1), utc(2023, 1, 1)),
        ("٢٠٢٣", "2023", utc(2023, 1, 1), utc(2024, 1, 1)),
    ],
)  # fmt: skip
def test_event_times(given, text, start, end):
    when = parse_when(given)
    assert when is not None
    assert (when.text, when.start, when.end) == (text, start, end)
    assert str(when) == text
    assert parse_when(when.text) == when


@each(
    "given",
    [None, "", " ", "soon", "May 2023", "2023-13", "2023-00", "2023-02-29", "0000", "23", "20235",
     "2023-5", "2023-05-20T24:00", "2023-05-20T09", "2022/2023/2024", "/", "2023/", "/2023",
     "2023/2022", "2023-05-20/2023-05-19", "9999-12-31", "-2023"],
)  # fmt: skip
def test_texts_that_are_not_event_times(given):
    assert parse_when(given) is None


def test_early_years_keep_four_digits():
    when = parse_when("0999-01-01T10:00")
    assert when is not None
    assert when.text == "0999-01-01T10:00"
    assert parse_when(when.text) == when


def test_an_offset_is_not_ignored():
    """09:30+02:00 is 07:30 UTC or may be rejected, but it must never become 09:30 UTC."""
    when = parse_when("2023-05-20T09:30+02:00")
    assert when is None or when.start == utc(2023, 5, 20, 7, 30)


def test_a_time_followed_by_garbage_is_invalid():
    assert parse_when("2023-05-20T09:30-ish,maybe") is None
