"""Find dates in a question ("on 8 May 2023", "in May", "in 2023"); score messages near them.

Rules for English month names. A date without a year matches every year. All other expressions of
time are read in :mod:`cognigraph.retrieve.question.temporal`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.text.terms import words
from cognigraph.times import from_micros

MONTHS = (
    "january february march april may june july august september october november december"
).split()
_SHORT = {month[:3]: number for number, month in enumerate(MONTHS, 1) if month != "may"}
_NUMBER = {month: number for number, month in enumerate(MONTHS, 1)} | _SHORT
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"([0-3]?\d)(?:st|nd|rd|th)?")
_AMBIGUOUS = {"may", "march", "mar", "dec", "jan", "sep"}
_BEFORE_MONTH = set("in of on early late mid during since until before after by last next".split())

LEAD = timedelta(days=3)
TAIL = timedelta(days=14)
"""The times before and after a date in which the nearness of a message falls to 1/e.

People write about an event in the days after it, and seldom before.
"""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A half-open interval; ``None`` where it has no beginning or no end."""

    start: datetime | None = None
    end: datetime | None = None

    def intervals(self, years: Iterable[int]) -> list[tuple[float, float]]:
        """Return the interval in seconds since 1970, with infinities for open ends."""
        start = -math.inf if self.start is None else self.start.timestamp()
        return [(start, math.inf if self.end is None else self.end.timestamp())]


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A day, month or year; ``None`` for the parts that the question does not name."""

    year: int | None
    month: int | None = None
    day: int | None = None

    def intervals(self, years: Iterable[int]) -> list[tuple[float, float]]:
        """Return its interval in seconds since 1970; without a year, one for each of ``years``."""
        found = (self.interval(year) for year in (years if self.year is None else [self.year]))
        return [(one[0].timestamp(), one[1].timestamp()) for one in found if one is not None]

    def interval(self, year: int) -> tuple[datetime, datetime] | None:
        """Return the half-open interval in UTC; ``year`` replaces a missing year.

        ``None`` for a date that does not exist, such as 30 February.
        """
        chosen = self.year or year
        try:
            if self.month is None:
                return datetime(chosen, 1, 1, tzinfo=UTC), datetime(chosen + 1, 1, 1, tzinfo=UTC)
            if self.day is not None:
                start = datetime(chosen, self.month, self.day, tzinfo=UTC)
                return start, start + timedelta(days=1)
            start = datetime(chosen, self.month, 1, tzinfo=UTC)
            after = datetime(chosen + self.month // 12, self.month % 12 + 1, 1, tzinfo=UTC)
            return start, after
        except (ValueError, OverflowError):
            return None


def named_dates(question: str) -> tuple[NamedDate, ...]:
    """Return the dates that a question names, in order."""
    tokens = words(question)
    years = [int(token) for token in tokens if _YEAR.fullmatch(token)]
    year = years[0] if years else None
    found: list[NamedDate] = []
    for index, token in enumerate(tokens):
        if token not in _NUMBER:
            continue
        before = tokens[index - 1] if index else ""
        around = [before, *tokens[index + 1 : index + 2]]
        dated = any(neighbour[:1].isdigit() for neighbour in around)
        if token in _AMBIGUOUS and not (dated or before in _BEFORE_MONTH):
            continue  # "may I", "the march", "Dec" as a name
        days = [int(match[1]) for near in around if (match := _DAY.fullmatch(near))]
        day = next((number for number in days if 1 <= number <= 31), None)
        found.append(NamedDate(year, _NUMBER[token], day))
    if year is not None and not found:
        found = [NamedDate(year) for year in years]
    return tuple(dict.fromkeys(found))


def nearness(asked: tuple[NamedDate | TimeWindow, ...], at: Floats) -> Floats:
    """Return how near each moment is to the nearest of the times: 1 inside, less outside.

    ``at`` (n,) are in seconds since 1970. Returns (n,) in [0, 1]: exp(-d / 14 days) for a moment d
    after the end, exp(-d / 3 days) for one d before the start; zeros if no time is asked for.
    """
    near = np.zeros(len(at))
    years = np.array([from_micros(round(second * 1e6)).year for second in at.tolist()], int)
    # The year before and after as well: in January, people write about New Year's Eve.
    around = sorted({int(year) + shift for year in np.unique(years) for shift in (-1, 0, 1)})
    for time in asked:
        for start, end in time.intervals(around):
            late = np.maximum(at - end, 0.0) / TAIL.total_seconds()
            early = np.maximum(start - at, 0.0) / LEAD.total_seconds()
            near = np.maximum(near, np.exp(-late - early))
    return near
