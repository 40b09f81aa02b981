"""Dates that a question names: "on 8 May 2023", "in May", "in 2023". Rules, English month names.

A year that is not said is the year of whatever is compared with it. What is relative to the time of
asking, one-sided or an order is read in :mod:`cognigraph.retrieve.question_time`.
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
"""What happens is told of on the days after it, seldom before: e-folding times of nearness."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time, half-open; ``None`` where it has no end."""

    start: datetime | None = None
    end: datetime | None = None

    def intervals(self, years: Iterable[int]) -> list[tuple[float, float]]:
        """The one interval in seconds since 1970, open ends as infinities."""
        start = -math.inf if self.start is None else self.start.timestamp()
        return [(start, math.inf if self.end is None else self.end.timestamp())]


@dataclass(frozen=True, slots=True)
class AskedTime:
    """A day, month or year; ``None`` for the parts that were not said."""

    year: int | None
    month: int | None = None
    day: int | None = None

    def intervals(self, years: Iterable[int]) -> list[tuple[float, float]]:
        """Intervals in seconds since 1970: one, or one for each of ``years`` if none was said."""
        found = (self.interval(year) for year in (years if self.year is None else [self.year]))
        return [(one[0].timestamp(), one[1].timestamp()) for one in found if one is not None]

    def interval(self, year: int) -> tuple[datetime, datetime] | None:
        """Half-open interval in UTC, with ``year`` in place of one not said; None if no date."""
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


def asked_times(question: str) -> tuple[AskedTime, ...]:
    """All times a question names, in order."""
    tokens = words(question)
    years = [int(token) for token in tokens if _YEAR.fullmatch(token)]
    year = years[0] if years else None
    found: list[AskedTime] = []
    for place, token in enumerate(tokens):
        if token not in _NUMBER:
            continue
        before = tokens[place - 1] if place else ""
        around = [before, *tokens[place + 1 : place + 2]]
        dated = any(neighbour[:1].isdigit() for neighbour in around)
        if token in _AMBIGUOUS and not (dated or before in _BEFORE_MONTH):
            continue  # "may I", "the march", "Dec" as a name
        days = [int(match[1]) for near in around if (match := _DAY.fullmatch(near))]
        day = next((number for number in days if 1 <= number <= 31), None)
        found.append(AskedTime(year, _NUMBER[token], day))
    if year is not None and not found:
        found = [AskedTime(year) for year in years]
    return tuple(dict.fromkeys(found))


def nearness(asked: tuple[AskedTime | Stretch, ...], at: Floats) -> Floats:
    """How near each moment lies to an asked time: 1 within, falling off on both sides.

    ``at`` (n,) seconds since 1970. Returns (n,) in [0, 1]; zeros when nothing was asked.
    """
    near = np.zeros(len(at))
    years = np.array([from_micros(round(second * 1e6)).year for second in at.tolist()], int)
    # A year that is not said may be the year before or after: New Year's Eve is told of in January.
    around = sorted({int(year) + shift for year in np.unique(years) for shift in (-1, 0, 1)})
    for time in asked:
        for start, end in time.intervals(around):
            late = np.maximum(at - end, 0.0) / TAIL.total_seconds()
            early = np.maximum(start - at, 0.0) / LEAD.total_seconds()
            near = np.maximum(near, np.exp(-late - early))
    return near
