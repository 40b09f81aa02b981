"""Find all time expressions of a sentence and resolve them relative to the time of the message.

A result is as precise as the words: "yesterday" gives a day, "last month" a month, "last week" a
span of days, "in 2022" a year. Vague expressions ("a few years ago", "the other day") are found
too, so that they are not taken for the object of a sentence, but they give no date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from cognigraph.english.sentences import Token
from cognigraph.english.times.calendar import span_text
from cognigraph.english.times.time_patterns import YEAR, read_time, starts_time
from cognigraph.english.times.time_words import MONTHS, WEEKDAYS
from cognigraph.english.times.utterance import Found, Utterance
from cognigraph.english.words import word_set

_PREPOSITIONS = word_set("in on at during by since from over until before after of between")
_JOINING = word_set("to until till through and")


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Tokens ``[start, end)`` express the time ``when`` (canonical text of ``cognigraph.times``).

    ``when`` is empty if the time cannot be resolved, as in "a few years ago".
    """

    start: int
    end: int
    when: str


def find_times(tokens: Sequence[Token], at: datetime) -> list[TimeSpan]:
    """Return the time expressions of a sentence, in order and without overlap.

    ``at`` is the speaker's local time: its date is what the speaker calls "today".
    """
    said = Utterance(tokens, at)
    spans: list[TimeSpan] = []
    index = 0
    while index < len(tokens):
        found = _safely_read(said, index) if starts_time(tokens[index].low) else None
        if found is None:
            index += 1
            continue
        start = _with_preposition(tokens, index, spans[-1].end if spans else 0)
        span = TimeSpan(start, found[0], found[1])
        joined = _joined(said, spans[-1], span) if spans else None
        if joined is not None:
            spans[-1] = joined
        else:
            spans.append(span)
        index = found[0]
    return spans


def _with_preposition(tokens: Sequence[Token], start: int, floor: int) -> int:
    while start > floor and tokens[start - 1].low in _PREPOSITIONS:
        start -= 1
    return start


def _safely_read(said: Utterance, index: int) -> Found:
    try:
        return _range_end(said, index) or read_time(said, index)
    except (ValueError, OverflowError):  # 31 June, or a year out of range
        return None


def _range_end(said: Utterance, index: int) -> Found:
    """Read a bare number that ends a range: "from June 1 to 5", "between 2015 and 2019"."""
    low, before = said.low(index), said.low(index - 1)
    if before not in _JOINING or not low.isdigit():
        return None
    if YEAR.fullmatch(low) and YEAR.fullmatch(said.low(index - 2)):
        return index + 1, low
    opened = said.low(index - 4) in ("from", "between") and said.low(index - 3) in MONTHS
    if opened and said.low(index - 2).isdigit() and 1 <= int(low) <= 31:
        return index + 1, f"--{int(low):02}"  # a day in the month that precedes "to"
    return None


def _joined(said: Utterance, first: TimeSpan, second: TimeSpan) -> TimeSpan | None:
    """Join two expressions of one time ("Tuesday last week", "May 5th last year", a range)."""
    if not first.when or not second.when:
        return None
    between = tuple(said.low(index) for index in range(first.end, second.start))
    whole = replace(first, end=second.end)
    try:
        if len(between) == 1 and between[0] in _JOINING and _opens_range(said, first, between[0]):
            ranged = _range(said, first, second)
            return None if ranged is None else replace(whole, when=ranged)
        if between in ((), (",",)) or (between == ("the",) and _weekday(said, first)):
            when = _same(said, first, second)
            return None if when is None else replace(whole, when=when)
    except (ValueError, OverflowError):
        return None
    return None


def _opens_range(said: Utterance, first: TimeSpan, joining: str) -> bool:
    opening = {said.low(index) for index in range(first.start, first.end)}
    return "between" in opening if joining == "and" else "from" in opening


def _range(said: Utterance, first: TimeSpan, second: TimeSpan) -> str | None:
    start, end = first.when, second.when
    if end.startswith("--"):
        return span_text(date.fromisoformat(start), date.fromisoformat(start[:8] + end[2:]))
    if "/" in start or "/" in end or len(start) != len(end):
        return None
    if _names_year(said, second) and not _names_year(said, first):
        start = end[:4] + start[4:]
    if end <= start and _weekday(said, second):
        days = [date.fromisoformat(day) for day in (start, end)]
        end = (days[1] + timedelta(days=7 * (1 + (days[0] - days[1]).days // 7))).isoformat()
    return f"{start}/{end}" if start < end else None


def _same(said: Utterance, first: TimeSpan, second: TimeSpan) -> str | None:
    """Combine two adjacent expressions into one time; ``None`` if they are separate times."""
    for one, other in ((first, second), (second, first)):
        if len(other.when) == 4 and not _names_year(said, one) and not _names_year(said, other):
            if len(one.when) in (7, 10) and not _weekday(said, one):
                return other.when + one.when[4:]
            if len(one.when) == 15:  # "the summer of next year"
                later = int(one.when[8:12]) - int(one.when[:4]) + int(other.when)
                return f"{other.when}{one.when[4:8]}{later}{one.when[12:]}"
        if _weekday(said, one) and len(other.when) == 21:
            monday = date.fromisoformat(other.when[:10])
            day = monday + timedelta(days=date.fromisoformat(one.when).weekday())
            return day.isoformat() if day.isoformat() <= other.when[11:] else None
    if _weekday(said, first) and len(second.when) == 10 and not _weekday(said, second):
        return second.when  # "Friday, 17 May"
    return None


def _weekday(said: Utterance, span: TimeSpan) -> bool:
    return len(span.when) == 10 and any(
        said.low(index) in WEEKDAYS for index in range(span.start, span.end)
    )


def _names_year(said: Utterance, span: TimeSpan) -> bool:
    return any(
        YEAR.fullmatch(said.low(index)[:4]) is not None for index in range(span.start, span.end)
    )
