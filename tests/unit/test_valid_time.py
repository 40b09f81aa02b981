"""Event times from the words of a turn and the date that a model gives."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cognigraph.ingest.model.validate import resolve_when
from tests.cases import each

SUNDAY = datetime(2025, 4, 27, 20, 6, tzinfo=ZoneInfo("Europe/Berlin"))


def when(words: str, date: str = "", text: str = "") -> str | None:
    return resolve_when(words, date, SUNDAY, text)


@each(
    ("words", "wrong", "right"),
    [
        ("last Tuesday", "2025-04-23", "2025-04-22"),
        ("Yesterday", "2025-04-27", "2025-04-26"),
        ("the day before yesterday", "2025-04-26", "2025-04-25"),
        ("two weeks ago", "2025-04-12", "2025-04-07/2025-04-13"),
        ("next month", "2025-06", "2025-05"),
        ("last year", "2023", "2024"),
        ("May 3, 2025", "2025-03-05", "2025-05-03"),
        ("from 3 May 2025 to 5 May 2025", "2025-05-03", "2025-05-03/2025-05-05"),
    ],
)
def test_words_with_one_meaning_are_counted_here(words, wrong, right):
    assert when(words, wrong) == right
    assert when(words) == right


def test_no_more_precision_than_the_words_have():
    assert when("last month", "2025-03-12") == "2025-03"


def test_the_tense_decides_where_the_words_do_not():
    assert when("on Monday", "2025-04-28") == "2025-04-28"
    assert when("on Monday", "2025-04-21") == "2025-04-21"
    will, did = "I will sign on Monday.", "It rained. I signed on Monday."
    assert when("on Monday", "", will) == "2025-04-28"
    assert when("on Monday", "", did) == "2025-04-21"
    assert when("on Monday", "2025-04-25", will) == "2025-04-28"  # that is a Friday
    assert when("Monday", "", "something else") is None


def test_words_only_a_model_understands_follow_its_date():
    assert when("the week before Christmas", "2024-12-16/2024-12-22") == "2024-12-16/2024-12-22"
    assert when("two days after last Monday", "2025-04-23") == "2025-04-23"
    assert when("at Easter", "2025-04-20") == "2025-04-20"
    assert when("at Easter") is None


@each(
    ("words", "date"),
    [
        ("a few years ago", "2021"),
        ("the other day", "2025-04-25"),
        ("every Tuesday evening", "2025-04-22"),
        ("", "someday"),
        ("", "2025-13-40"),
        ("", "2025-05-10/2025-05-01"),
        ("", ""),
    ],
)
def test_text_that_is_not_a_date_is_dropped(words, date):
    assert when(words, date) is None


def test_times_of_day_are_the_speakers():
    assert when("", "2025-04-27T18:30") == "2025-04-27T16:30"
    assert when("yesterday", "2025-04-26T10:00") == "2025-04-26T08:00"
    assert when("", "2025-04-27T18:30Z") == "2025-04-27T18:30"
    assert resolve_when("", "2025-04-27T18:30", SUNDAY.astimezone(UTC), "") == "2025-04-27T18:30"


def test_the_day_is_the_speakers():
    late = datetime(2025, 4, 27, 23, 30, tzinfo=UTC)
    assert resolve_when("today", "", late, "") == "2025-04-27"
    assert resolve_when("today", "", late.astimezone(SUNDAY.tzinfo), "") == "2025-04-28"
