"""Calendar arithmetic for time expressions: weekdays, months, seasons, holidays and offsets.

Functions that return text return the canonical format of :mod:`cognigraph.times`. All functions
raise ``ValueError`` or ``OverflowError`` for dates that :class:`datetime.date` cannot represent.
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
    ("new", "year", "'s", "day"): (1, 1), ("new", "year", "'s"): (12, 31),
    ("new", "year", "'s", "eve"): (12, 31), ("new", "years", "eve"): (12, 31),
    ("valentine", "'s", "day"): (2, 14), ("valentines", "day"): (2, 14),
    ("halloween",): (10, 31), ("christmas", "eve"): (12, 24), ("christmas", "day"): (12, 25),
    ("christmas",): (12, 25), ("boxing", "day"): (12, 26), ("easter",): (0, 0),
    ("easter", "sunday"): (0, 0),
}  # fmt: skip
"""Month and day of holidays that fall on the same date everywhere. (0, 0) is Easter Sunday."""
_WEEKS = {"week": 1, "fortnight": 2}


def day_text(day: date) -> str:
    """Format a day: ``2024-05-15``."""
    return day.isoformat()


def month_text(year: int, month: int) -> str:
    """Format a month: ``2024-05``. Months outside 1 to 12 carry over into other years."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    date(year, month, 1)  # raises ValueError for a year out of range
    return f"{year:04}-{month:02}"


def year_text(year: int) -> str:
    """Format a year: ``2024``."""
    date(year, 1, 1)
    return f"{year:04}"


def span_text(first: date, last: date) -> str:
    """Format a span of days: ``2024-05-13/2024-05-19``."""
    return f"{first.isoformat()}/{last.isoformat()}"


def week_of(day: date) -> str:
    """Return the week (Monday to Sunday) that contains the day."""
    monday = day - timedelta(days=day.weekday())
    return span_text(monday, monday + timedelta(days=6))


def weekend_of(day: date) -> str:
    """Return the Saturday and Sunday of the week that contains the day."""
    monday = day - timedelta(days=day.weekday())
    return span_text(monday + timedelta(days=5), monday + timedelta(days=6))


def unit_away(unit: str, today: date, step: int) -> str | None:
    """Return the week, weekend, month or year ``step`` units after the current one.

    ``None`` for any other unit.
    """
    if unit == "week":
        return week_of(today + timedelta(weeks=step))
    if unit == "weekend":
        # Said on a Saturday or Sunday, "last weekend" still means the weekend before this one.
        return weekend_of(today + timedelta(weeks=step))
    if unit == "month":
        return month_text(today.year, today.month + step)
    if unit == "year":
        return year_text(today.year + step)
    return None


def counted_away(unit: str, today: date, count: int) -> str:
    """Return the date ``count`` units from today, at the precision of the unit."""
    if unit in ("day", "night"):
        return day_text(today + timedelta(days=count))
    if unit in _WEEKS:
        return week_of(today + timedelta(weeks=count * _WEEKS[unit]))
    if unit == "decade":
        return year_text(today.year + 10 * count)
    found = unit_away(unit, today, count)
    assert found is not None
    return found


def weekday_away(weekday: int, today: date, step: int) -> date:
    """Return the ``step``-th such weekday after today (before it if negative), never today."""
    ahead = (weekday - today.weekday()) % 7
    if step < 0:
        return today - timedelta(days=((7 - ahead) % 7 or 7) + 7 * (-step - 1))
    return today + timedelta(days=(ahead or 7) + 7 * (step - 1))


def month_away(month: int, today: date, step: int) -> str:
    """Return the last (-1), the next (1) or this year's (0) occurrence of a month."""
    year = today.year
    if step < 0 and month >= today.month:
        year -= 1
    if step > 0 and month <= today.month:
        year += 1
    return month_text(year, month)


def season_of(name: str, year: int) -> str:
    """Return the season that begins in the given year."""
    first, last = SEASONS[name]
    return f"{month_text(year, first)}/{month_text(year, last)}"


def season_away(name: str, today: date, step: int) -> str:
    """Return the last (-1), the next (1) or the current year's (0) occurrence of a season.

    In January and February the current winter is the one that began in the year before.
    """
    first, last = SEASONS[name]
    month, year = today.month, today.year
    if last > 12 and month <= last - 12:
        month, year = month + 12, year - 1
    if step < 0 and month <= last:
        year -= 1
    if step > 0 and month >= first:
        year += 1
    return season_of(name, year)


def month_day(month: int, day: int, today: date, tense: int) -> date:
    """Choose the year for a date without one: the nearest occurrence that fits the tense.

    ``tense`` is -1 for the past, 1 for the future and 0 if both fit.
    """
    years = [today.year + step for step in (-4, -1, 0, 1, 4)]  # 4 years: for 29 February
    days = [date(year, month, day) for year in years if day <= monthrange(year, month)[1]]
    allowed = [found for found in days if (found - today).days * tense >= 0]
    return min(allowed, key=lambda found: abs((found - today).days))


def holiday(rule: tuple[int, int], year: int) -> date:
    """Return the date of a holiday (a value of :data:`HOLIDAYS`) in a year."""
    return date(year, *rule) if rule[0] else easter(year)


def holiday_away(rule: tuple[int, int], today: date, tense: int) -> date:
    """Return the last occurrence of a holiday (tense -1) or the next one; today counts as both."""
    days = [holiday(rule, today.year + step) for step in (-1, 0, 1)]
    if tense < 0:
        return max(day for day in days if day <= today)
    return min(day for day in days if day >= today)


def easter(year: int) -> date:
    """Return Easter Sunday in the Gregorian calendar (the Meeus/Jones/Butcher algorithm)."""
    golden, century, rest = year % 19, year // 100, year % 100
    leap, part = divmod(century, 4)
    moon = (19 * golden + century - leap - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    quarter, left = divmod(rest, 4)
    weekday = (32 + 2 * part + 2 * quarter - moon - left) % 7
    shift = (golden + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)
