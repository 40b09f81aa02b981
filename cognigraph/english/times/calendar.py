"""Calendar arithmetic behind time expressions: the day, month or span that a step away means.

Every function gives the canonical text of :mod:`cognigraph.times` and raises ``ValueError`` or
``OverflowError`` beyond the calendar's ends.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

SEASONS = {
    "spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 14),
}  # fmt: skip
"""First and last month; winter runs into the next year (northern hemisphere)."""
HOLIDAYS = {
    ("new", "year", "'s", "day"): (1, 1), ("new", "year", "'s"): (12, 31),
    ("new", "year", "'s", "eve"): (12, 31), ("new", "years", "eve"): (12, 31),
    ("valentine", "'s", "day"): (2, 14), ("valentines", "day"): (2, 14),
    ("halloween",): (10, 31), ("christmas", "eve"): (12, 24), ("christmas", "day"): (12, 25),
    ("christmas",): (12, 25), ("boxing", "day"): (12, 26), ("easter",): (0, 0),
    ("easter", "sunday"): (0, 0),
}  # fmt: skip
"""Days with the same date, or the same rule, wherever they are kept. (0, 0) is Easter Sunday."""
_WEEKS = {"week": 1, "fortnight": 2}


def day_text(day: date) -> str:
    """``2024-05-15``."""
    return day.isoformat()


def month_text(year: int, month: int) -> str:
    """``2024-05``; months beyond 1 to 12 run into the years around."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    date(year, month, 1)  # raises beyond the calendar
    return f"{year:04}-{month:02}"


def year_text(year: int) -> str:
    """``2024``."""
    date(year, 1, 1)
    return f"{year:04}"


def span_text(first: date, last: date) -> str:
    """``2024-05-13/2024-05-19``."""
    return f"{first.isoformat()}/{last.isoformat()}"


def week_of(day: date) -> str:
    """The week from Monday to Sunday that holds the day."""
    monday = day - timedelta(days=day.weekday())
    return span_text(monday, monday + timedelta(days=6))


def weekend_of(day: date) -> str:
    """Saturday and Sunday of the day's week."""
    monday = day - timedelta(days=day.weekday())
    return span_text(monday + timedelta(days=5), monday + timedelta(days=6))


def unit_away(unit: str, today: date, step: int) -> str | None:
    """The week, weekend, month or year ``step`` after this one."""
    if unit == "week":
        return week_of(today + timedelta(weeks=step))
    if unit == "weekend":
        # On a weekend "last weekend" is the one before, as in the middle of the week.
        return weekend_of(today + timedelta(weeks=step))
    if unit == "month":
        return month_text(today.year, today.month + step)
    if unit == "year":
        return year_text(today.year + step)
    return None


def counted_away(unit: str, today: date, count: int) -> str:
    """``count`` units from today, at the precision of the unit."""
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
    """The ``step``-th such day before or after today, today itself not counted."""
    ahead = (weekday - today.weekday()) % 7
    if step < 0:
        return today - timedelta(days=((7 - ahead) % 7 or 7) + 7 * (-step - 1))
    return today + timedelta(days=(ahead or 7) + 7 * (step - 1))


def month_away(month: int, today: date, step: int) -> str:
    """That month before (-1), in (0) or after (1) the present time."""
    year = today.year
    if step < 0 and month >= today.month:
        year -= 1
    if step > 0 and month <= today.month:
        year += 1
    return month_text(year, month)


def season_of(name: str, year: int) -> str:
    """The season that begins in the year."""
    first, last = SEASONS[name]
    return f"{month_text(year, first)}/{month_text(year, last)}"


def season_away(name: str, today: date, step: int) -> str:
    """The season before (-1), around (0) or after (1) the present time."""
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
    """The day without a year that is meant: on the tense's side, else the nearest on either."""
    years = [today.year + step for step in (-4, -1, 0, 1, 4)]  # 4: for the 29th of February
    days = [date(year, month, day) for year in years if day <= monthrange(year, month)[1]]
    allowed = [found for found in days if (found - today).days * tense >= 0]
    return min(allowed, key=lambda found: abs((found - today).days))


def holiday(rule: tuple[int, int], year: int) -> date:
    """The day of a holiday in a year."""
    return date(year, *rule) if rule[0] else easter(year)


def holiday_away(rule: tuple[int, int], today: date, tense: int) -> date:
    """The holiday before or on today (tense -1), else on or after it."""
    days = [holiday(rule, today.year + step) for step in (-1, 0, 1)]
    if tense < 0:
        return max(day for day in days if day <= today)
    return min(day for day in days if day >= today)


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (Meeus, Jones and Butcher's computation)."""
    golden, century, rest = year % 19, year // 100, year % 100
    leap, part = divmod(century, 4)
    moon = (19 * golden + century - leap - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    quarter, left = divmod(rest, 4)
    weekday = (32 + 2 * part + 2 * quarter - moon - left) % 7
    shift = (golden + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)
