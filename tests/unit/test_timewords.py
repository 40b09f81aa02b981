"""Time expressions: no labelled text gets a wrong date, and nearly all of their dates are read."""

from __future__ import annotations

from datetime import datetime

import pytest

from bench.dates import Example, load, ours
from cognigraph.english.sentences import sentences
from cognigraph.english.times.find import TimeSpan, find_times, read_times
from tests.cases import each

EXAMPLES = load()
FRIDAY = datetime.fromisoformat("2026-04-24T10:00:00+02:00")


def one_time(text: str, at: datetime = FRIDAY) -> TimeSpan:
    (sentence,) = sentences(text)
    (span,) = find_times(sentence.tokens, at)
    return span


@each("example", EXAMPLES, ids=[example.text for example in EXAMPLES])
@pytest.mark.slow
def test_no_labelled_text_gets_a_wrong_date(example: Example) -> None:
    assert set(ours(example)) <= example.allowed


@pytest.mark.slow
def test_nearly_all_labelled_dates_are_read() -> None:
    assert len(EXAMPLES) >= 150
    found = [bool(ways & set(ours(example))) for example in EXAMPLES for ways in example.required]
    assert sum(found) / len(found) > 0.9


@each(
    ("text", "readings", "bound"),
    [
        ("We met on Tuesday.", ("2026-04-21",), ""),
        ("Meeting on Tuesday", ("2026-04-21", "2026-04-28", "2026-05-05"), ""),
        ("We met on Friday.", ("2026-04-24", "2026-04-17"), ""),
        ("I'll send it after Monday.", ("2026-04-27",), "after"),
        ("We rented it until 3 May.", ("2025-05-03", "2026-05-03"), "until"),
        ("A few years ago I quit.", (), ""),
    ],
)
def test_what_is_open_keeps_its_readings(text, readings, bound):
    span = one_time(text)
    assert (span.readings, span.bound) == (readings, bound)
    assert span.when == (readings[0] if len(readings) == 1 and bound != "after" else "")


@each(
    ("text", "dated"),
    [
        ("Her new record is called Tomorrow Never Barks.", []),
        ("We watched Yesterday Girl again.", []),
        ("Off to Vigo Tomorrow, I pack tonight.", ["2026-04-25", "2026-04-24"]),
        ("Tomorrow Ann comes.", ["2026-04-25"]),
        ("so Yesterday I called her", ["2026-04-23"]),
    ],
)
def test_a_title_is_no_date(text, dated):
    read = read_times(list(sentences(text)), FRIDAY)
    assert [span.when for item in read for span in item] == dated


@each(
    ("text", "dated"),
    [
        ("They came in August 2022 and left in September.", ["2022-08", ""]),
        ("I joined on 3 May 2021 and quit on 1 June.", ["2021-05-03", ""]),
        ("We met in December 2025 and moved in January.", ["2025-12", "2026-01"]),
        ("I joined in 2021 and we met on Tuesday.", ["2021", "2026-04-21"]),
    ],
)
def test_a_month_after_one_with_a_year_may_be_of_that_year(text, dated):
    read = read_times(list(sentences(text)), FRIDAY)
    assert [span.when for item in read for span in item] == dated


def test_a_corrected_time_is_outdated():
    text = "The launch is on 30 June. Hmm, actually Iain just wrote: 14 July."
    read = read_times(list(sentences(text)), FRIDAY)
    assert [[(span.when, span.outdated) for span in item] for item in read] == [
        [("", True)], [("2026-07-14", False)],
    ]  # fmt: skip


def test_today_is_the_speakers():
    late = datetime.fromisoformat("2026-04-24T23:30:00-05:00")
    assert one_time("I moved today.", late).when == "2026-04-24"


@each(
    "text",
    [
        "Let's say the week of the 11th of May.",
        "We moved the launch from 16 to 23 November.",
        "I'm free on 2 and 5 May.",
        "Ticket # 2024-11-05 is open.",
        "Contract no. 2024-11-05 is signed.",
        "My contract number is 2024-11-05.",
        "Invoice 2024-11-05 was paid.",
        "We watched it, May the Fourth be with you.",
    ],
)
def test_what_leaves_several_dates_is_not_written(text):
    (read,) = read_times(list(sentences(text)), FRIDAY)
    assert [span.when for span in read if span.when] == []


def test_today_of_an_anniversary_is_no_date():
    (read,) = read_times(list(sentences("Two years ago today we opened.")), FRIDAY)
    assert [span.when for span in read if span.when] == ["2024"]


@each(
    ("text", "when"),
    [
        ("A flight on the morning of May 3rd has been booked.", "2026-05-03"),
        ("We'll assemble at 8:30 AM Thursday.", "2026-04-30"),
        ("Starting Monday, April 27th, we open late.", "2026-04-27"),
        ("'Focus Friday' is activated.", ""),
        ("Even today the bison graze here.", ""),
        ("Two years and three months ago we opened.", ""),
    ],
)
def test_words_around_a_date_decide_what_it_is(text: str, when: str) -> None:
    (read,) = read_times(list(sentences(text)), FRIDAY)
    assert "".join(span.when for span in read) == when
