"""The times that English time expressions may mean: a reader for each kind of expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from cognigraph.english.times import calendar
from cognigraph.english.times.tense import CERTAIN, LIKELY, WEAK
from cognigraph.english.times.time_words import COUNTS, MONTHS, ORDINALS, SIMPLE, UNITS, WEEKDAYS

AHEAD = CERTAIN + 1
"""What "in two weeks" needs: something that lies ahead. Otherwise it is how long it takes."""


@dataclass(frozen=True, slots=True)
class Time:
    """The times that words may mean, in order; the tense chooses among them.

    ``needs`` is the certainty that the tense must have to choose (see :mod:`.tense`). 0 means that
    the words choose themselves: a single time is the one that is meant, several leave it open.
    """

    times: tuple[str, ...]
    needs: int = 0

    def readings(self, today: date, direction: int, certainty: int) -> tuple[str, ...]:
        """Return the times that remain in a tense, the likeliest first."""
        if not self.needs:
            return self.times
        past = [time for time in self.times if calendar.first_day(time) <= today][::-1]
        future = [time for time in self.times if today <= calendar.last_day(time)]
        both = tuple(dict.fromkeys((*past[:1], *future[: 1 if self.needs == WEAK else 2])))
        if direction == 0 or certainty < self.needs:
            return both
        chosen = past if direction < 0 else future
        if not chosen:
            return ()
        if self.needs == WEAK:
            # "School starts on 1 May", said on 2 May: only a sure sign of the past reaches so far.
            far = abs((calendar.first_day(chosen[0]) - today).days) > _FAR
            return both if far and (direction > 0 or certainty < CERTAIN) else (chosen[0],)
        # "We met on Monday", said on a Monday; "it rained in May", said in May.
        now = calendar.first_day(chosen[0]) <= today <= calendar.last_day(chosen[0])
        open_ = now and (direction < 0 or self.needs == LIKELY)
        return tuple(chosen[: 2 if open_ else 1])


_FAR = 300
"""Number of days within which a date without a year lies ahead."""
_STEPS = {"last": -1, "this": 0, "next": 1}

Reader = Callable[[re.Match[str], datetime], Time | None]


def _years(match: re.Match[str], at: datetime) -> tuple[int, ...]:
    """Return the year that an expression names, else those that it may mean."""
    if match["year"]:
        return (int(match["year"]),)
    if match["step"]:
        return (at.year + _STEPS[match["step"]],)
    return tuple(range(at.year - 4, at.year + 5))


def _each(years: Iterable[int], make: Callable[[int], str]) -> tuple[str, ...]:
    """Make a time of each year, without the years that do not have it (29 February)."""
    found = []
    for year in years:
        try:
            found.append(make(year))
        except (ValueError, OverflowError):
            continue
    return tuple(found)


def _yearly(match: re.Match[str], at: datetime, make: Callable[[int], str], needs: int) -> Time:
    years = _years(match, at)
    times = _each(years, make)
    return Time(times, 0 if len(years) == 1 else needs)


def read_iso(match: re.Match[str], at: datetime) -> Time:
    """Read 2026-05-12."""
    return Time((date(int(match[1]), int(match[3]), int(match[4])).isoformat(),))


def read_slashed(match: re.Match[str], at: datetime) -> Time | None:
    """Read 25/12/2023 and 12/25/2023, but not 5/7/2023: May in the US, July elsewhere."""
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if first <= 12 and second <= 12 and first != second:
        return Time(())
    day, month = (first, second) if second <= 12 else (second, first)
    return Time((date(year, month, day).isoformat(),))


def _day_number(text: str) -> int:
    return ORDINALS.get(text) or int(re.sub(r"\D", "", text))


def read_month_day(match: re.Match[str], at: datetime) -> Time | None:
    """Read "7 May", "the first of May", "May 7th, 2023", "Friday, 17 May", "20-27 May"."""
    month, first = MONTHS[match["month"]], _day_number(match["day"])
    until = match.groupdict().get("until")

    def make(year: int) -> str:
        text = date(year, month, first).isoformat()
        return text if until is None else _ordered(text, date(year, month, int(until)).isoformat())

    found = _yearly(match, at, make, WEAK)
    weekday = match.groupdict().get("weekday")
    if weekday is None:
        return found
    # A weekday and a date have one year, whatever the tense; a date of long ago would say it.
    since = (at.date() - timedelta(days=60)).isoformat()
    until = (at.date() + timedelta(days=330)).isoformat()
    near = [time for time in found.times if since < time < until] if found.needs else found.times
    weekdays = {time: date.fromisoformat(time).weekday() for time in near}
    return Time(tuple(time for time in near if weekdays[time] == WEEKDAYS[weekday]))


def _ordered(first: str, last: str) -> str:
    if last <= first:
        raise ValueError("a range that does not end after its beginning")
    return f"{first}/{last}"


def read_month(match: re.Match[str], at: datetime) -> Time | None:
    """Read "May 2023", "in May"."""
    month = MONTHS[match["month"]]
    return _yearly(match, at, lambda year: calendar.month_text(year, month), CERTAIN)


def read_year(match: re.Match[str], at: datetime) -> Time | None:
    """Read "in 2022"."""
    return Time((calendar.year_text(int(match[1])),))


def read_quarter(match: re.Match[str], at: datetime) -> Time | None:
    """Read "in Q3", "Q3 2026"."""
    first = 3 * int(match[1]) - 2
    return _yearly(match, at, lambda year: _months(year, first, first + 2), WEAK)


def _months(year: int, first: int, last: int) -> str:
    return f"{calendar.month_text(year, first)}/{calendar.month_text(year, last)}"


def read_season(match: re.Match[str], at: datetime) -> Time | None:
    """Read "in summer 2021", "in the autumn"."""
    return _yearly(match, at, lambda year: calendar.season_of(match[1], year), CERTAIN)


def read_holiday(match: re.Match[str], at: datetime) -> Time | None:
    """Read "on Christmas Eve"."""
    return _yearly(match, at, lambda year: calendar.holiday(match[1], year), WEAK)


def read_decade(match: re.Match[str], at: datetime) -> Time | None:
    """Read "the 1980s"."""
    return Time((f"{match[1]}0/{match[1]}9",))


def read_part(match: re.Match[str], at: datetime) -> Time | None:
    """Read "the first half of June", "the last week of April"."""
    month = MONTHS[match["month"]]
    part = -1 if match[1] in ("last", "final") else ORDINALS[match[1]] - 1
    size = 15 if match[2] == "half" else 7
    if part > (1 if size == 15 else 3):
        return None
    return _yearly(match, at, lambda year: calendar.part_of_month(part, size, year, month), WEAK)


def read_weekday(match: re.Match[str], at: datetime) -> Time | None:
    """Read "Friday", "Tuesday morning", "Friday the 21st", "Monday next week"."""
    day = at.date() + timedelta(days=WEEKDAYS[match[1]] - at.weekday())
    if match["step"]:
        return Time(((day + timedelta(weeks=_STEPS[match["step"]])).isoformat(),))
    if match["day"]:
        weeks = [day + timedelta(weeks=step) for step in range(-8, 9)]
        number = _day_number(match["day"])
        return Time(tuple(one.isoformat() for one in weeks if one.day == number), WEAK)
    weeks = [day + timedelta(weeks=step) for step in (-2, -1, 0, 1, 2)]
    return Time(tuple(one.isoformat() for one in weeks), LIKELY)


def read_weekday_of(match: re.Match[str], at: datetime) -> Time | None:
    """Read "last week on Tuesday"."""
    days = WEEKDAYS[match[2]] - at.weekday() + 7 * _STEPS[match[1]]
    return Time(((at.date() + timedelta(days=days)).isoformat(),))


def read_of_month(match: re.Match[str], at: datetime) -> Time | None:
    """Read "the 25th"."""
    number = _day_number(match[1])
    months = range(12 * at.year + at.month - 4, 12 * at.year + at.month + 3)
    times = _each(months, lambda month: date(month // 12, month % 12 + 1, number).isoformat())
    return Time(times, WEAK)


def read_day_of_month(match: re.Match[str], at: datetime) -> Time | None:
    """Read "the 10th of next month"."""
    month = calendar.month_text(at.year, at.month + _STEPS[match[2]])
    return Time((date.fromisoformat(f"{month}-{_day_number(match[1]):02}").isoformat(),))


def read_simple(match: re.Match[str], at: datetime) -> Time | None:
    """Read "today", "tomorrow evening", "the day before yesterday"."""
    step = SIMPLE.get(match[2], 1) * (2 if match[1] else 1)
    return Time(((at.date() + timedelta(days=step)).isoformat(),))


def read_part_of_day(match: re.Match[str], at: datetime) -> Time | None:
    """Read "last night", "this morning"."""
    return Time(((at.date() - timedelta(days=match[1] == "last")).isoformat(),))


def read_stepped(match: re.Match[str], at: datetime) -> Time | None:
    """Read "last week", "this month", "next year", "last weekend", "the week after next"."""
    step, unit = match[1], match[2]
    return _unit_away(unit, at, _STEPS[step], WEAK if unit == "weekend" and step == "this" else 0)


def read_weekend(match: re.Match[str], at: datetime) -> Time | None:
    """Read "over the weekend": the one before or the one to come, as the tense tells."""
    return Time(tuple(calendar.weekend_of(at.date(), weeks) for weeks in (-1, 0, 1)), LIKELY)


def read_this(match: re.Match[str], at: datetime) -> Time | None:
    """Read "the month" of "at the end of the month"."""
    return _unit_away(match[1], at, 0, 0)


def read_twice(match: re.Match[str], at: datetime) -> Time | None:
    """Read "the week before last"."""
    return _unit_away(match[1], at, -2 if match[2] == "last" else 2, 0)


def _unit_away(unit: str, at: datetime, step: int, needs: int) -> Time | None:
    today = at.date()
    if unit == "weekend":
        # On Monday and Tuesday, "this weekend" may be the past or the coming one.
        steps = (-1, 0) if needs and today.weekday() < 2 else (step,)
        if step == 1 and today.weekday() < 5:
            steps = (0, 1)  # "next weekend" is the coming one, or the one after it
        times = tuple(calendar.weekend_of(today, one) for one in steps)
        return Time(times, LIKELY if len(steps) > 1 and step == 0 else 0)
    if unit == "week":
        # On a Sunday, "this week" may be that which is over, or that which begins.
        steps = (step, step + 1) if today.weekday() == 6 and step in (-1, 0) else (step,)
        return Time(tuple(calendar.week_of(today, one) for one in steps))
    if unit == "month":
        return Time((calendar.month_text(today.year, today.month + step),))
    return Time((calendar.year_text(today.year + step),))


def read_stepped_weekday(match: re.Match[str], at: datetime) -> Time | None:
    """Read "last Friday", "this Friday", "next Friday", "this coming Friday".

    Early in a week, "next Friday" is that of this week or that of the next one.
    """
    step, weekday, today = match[1], WEEKDAYS[match[2]], at.date()
    ahead = (weekday - today.weekday()) % 7 or 7
    coming, past = today + timedelta(days=ahead), today - timedelta(days=7 - ahead or 7)
    if step in ("last", "past", "this past"):
        return Time((past.isoformat(),))
    if step == "this" and weekday < today.weekday():
        return Time((past.isoformat(), coming.isoformat()), LIKELY)
    if step == "this" and weekday == today.weekday():
        return Time((today.isoformat(), coming.isoformat()))
    week = calendar.week_of(today)
    if step == "next" and coming.isoformat() <= week[11:]:
        return Time((coming.isoformat(), (coming + timedelta(weeks=1)).isoformat()))
    return Time((coming.isoformat(),))


def read_stepped_name(match: re.Match[str], at: datetime) -> Time | None:
    """Read "last May", "next summer", "last Christmas".

    In October, "last May" may be that of this year; in February, "next May" that of this year.
    """
    step, name, today = match[1], match[2], at.date()
    make: Callable[[int], str]
    if name in MONTHS:
        make = lambda year: calendar.month_text(year, MONTHS[name])  # noqa: E731
    elif name in calendar.SEASONS:
        make = lambda year: calendar.season_of(name, year)  # noqa: E731
    else:
        make = lambda year: calendar.holiday(name, year)  # noqa: E731
    before, this, after = (make(today.year + one) for one in (-1, 0, 1))
    if step == "this":
        if calendar.first_day(before) <= today <= calendar.last_day(before):
            return Time((before,))  # "this winter", said in January
        over = calendar.last_day(this) < today
        return Time((this, after), LIKELY) if over else Time((this,))
    if step == "next":
        return Time((this, after) if calendar.first_day(this) > today else (after,))
    if calendar.last_day(this) < today:
        return Time((this, before))
    if calendar.last_day(before) >= today:
        return Time((make(today.year - 2),))
    return Time((before,))


def read_ago(match: re.Match[str], at: datetime) -> Time | None:
    """Read "two weeks ago", "3 days from now"."""
    count = COUNTS.get(match[1]) or int(match[1])
    return _counted(count if match[3] != "ago" and match[3] != "back" else -count, match[2], at)


def read_ahead(match: re.Match[str], at: datetime) -> Time | None:
    """Read "in two weeks", which is a time only where something lies ahead."""
    found = _counted(COUNTS.get(match[1]) or int(match[1]), match[2], at)
    return None if found is None else replace(found, needs=AHEAD)


def _counted(count: int, unit: str, at: datetime) -> Time | None:
    unit, today = UNITS[unit], at.date()
    if unit in ("hour", "minute"):
        moved = at + timedelta(**{f"{unit}s": count})
        return Time((moved.date().isoformat(),))
    if unit in ("day", "night"):
        return Time(((today + timedelta(days=count)).isoformat(),))
    if unit == "fortnight":
        return Time((calendar.week_of(today, 2 * count),))
    if unit == "decade":
        return Time(())
    return _unit_away(unit, at, count, 0)


def read_nothing(match: re.Match[str], at: datetime) -> Time | None:
    """Read what is no date, such as a habit or a time of day."""
    return Time(())
