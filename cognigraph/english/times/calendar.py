"""Calendar arithmetic for time expressions: weeks, months, seasons and holidays.

Times are texts in the canonical format of :mod:`cognigraph.times`: ``2024``, ``2024-05``,
``2024-05-15``, or two of these joined by ``/``. All functions raise ``ValueError`` or
``OverflowError`` for dates that :class:`datetime.date` cannot represent.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

SEASONS = {
    "spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 14),
}  # fmt: skip
"""First and last month of each season in the northern hemisphere.

Winter ends in month 14, which is February of the following year.
"""
HOLIDAYS = {
    "new year 's day": (1, 1), "new year 's eve": (12, 31), "new years eve": (12, 31),
    "valentine 's day": (2, 14), "valentines day": (2, 14), "halloween": (10, 31),
    "christmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25),
    "boxing day": (12, 26),
}  # fmt: skip
"""Month and day of holidays that fall on the same date everywhere."""


def month_text(year: int, month: int) -> str:
    """Format a month: ``2024-05``. Months outside 1 to 12 carry over into other years."""
    return f"{date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1):%Y-%m}".zfill(7)


def year_text(year: int) -> str:
    """Format a year: ``2024``."""
    return f"{date(year, 1, 1).year:04}"


def span_text(first: date, last: date) -> str:
    """Format a span of days: ``2024-05-13/2024-05-19``."""
    return f"{first.isoformat()}/{last.isoformat()}"


def week_of(day: date, weeks: int = 0) -> str:
    """Return the week (Monday to Sunday) some weeks after the one that contains the day."""
    monday = day - timedelta(days=day.weekday()) + timedelta(weeks=weeks)
    return span_text(monday, monday + timedelta(days=6))


def weekend_of(day: date, weeks: int = 0) -> str:
    """Return the Saturday and Sunday some weeks after those of the week of the day."""
    saturday = day - timedelta(days=day.weekday()) + timedelta(days=5, weeks=weeks)
    return span_text(saturday, saturday + timedelta(days=1))


def season_of(name: str, year: int) -> str:
    """Return the season that begins in the given year."""
    first, last = SEASONS[name]
    return f"{month_text(year, first)}/{month_text(year, last)}"


def holiday(name: str, year: int) -> str:
    """Return the date of a holiday of :data:`HOLIDAYS` in a year."""
    return date(year, *HOLIDAYS[name]).isoformat()


def part_of_month(part: int, size: int, year: int, month: int) -> str:
    """Return the part (from 0) of a month in parts of ``size`` days; -1 is its last ``size`` days.

    The second half of a month (1, 15) ends with the month.
    """
    last = monthrange(year, month)[1]
    first = last - size + 1 if part < 0 else part * size + 1
    end = last if part < 0 or (size == 15 and part) else first + size - 1
    return span_text(date(year, month, first), date(year, month, end))


def first_day(text: str) -> date:
    """Return the first day of a time."""
    point = text.split("/")[0]
    return date.fromisoformat(point + "-01" * ((10 - len(point)) // 3))


def last_day(text: str) -> date:
    """Return the last day of a time."""
    point = text.split("/")[-1]
    if len(point) == 10:
        return date.fromisoformat(point)
    year, month = int(point[:4]), int(point[5:] or 12)
    return date(year, month, monthrange(year, month)[1])
