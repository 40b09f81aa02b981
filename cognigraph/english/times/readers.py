"""What English time expressions may mean, before any tense: their words, calendar and grammar."""

from __future__ import annotations

import calendar
import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache

from cognigraph.english import verbs, words
from cognigraph.english.words import NUMBERS, word_set

MONTHS = {
    name.lower(): number
    for number in range(1, 13)
    for name in (calendar.month_name[number], calendar.month_abbr[number])
} | {"sept": 9}
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("monday mon", "tuesday tue tues", "wednesday wed weds", "thursday thu thur thurs",
         "friday fri", "saturday sat", "sunday sun")
    )
    for name in (*names.split(), names.split()[0] + "s")
}  # fmt: skip
UNITS = {
    "day": "day", "days": "day", "week": "week", "weeks": "week", "wk": "week",
    "weekend": "weekend", "weekends": "weekend", "month": "month", "months": "month",
    "year": "year", "years": "year", "yr": "year", "yrs": "year", "night": "night",
    "nights": "night", "decade": "decade", "decades": "decade", "fortnight": "fortnight",
    "fortnights": "fortnight", "hour": "hour", "hours": "hour", "minute": "minute",
    "minutes": "minute", "mins": "minute",
}  # fmt: skip
COUNTS = NUMBERS | {
    "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60,
}  # fmt: skip
ORDINALS = {
    word: number
    for number, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
        thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
        twentieth""".split(), 1
    )
}  # fmt: skip
DAYPARTS = word_set("morning afternoon evening night")
SIMPLE = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}


WEAK, LIKELY, CERTAIN = 1, 2, 3


# Calendar arithmetic for time expressions: weeks, months, seasons and holidays.
#
# Times are texts in the canonical format of :mod:`cognigraph.times`: ``2024``, ``2024-05``,
# ``2024-05-15``, or two of these joined by ``/``. All functions raise ``ValueError`` or
# ``OverflowError`` for dates that :class:`datetime.date` cannot represent.

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


def named_time(name: str, year: int) -> str:
    """Return a month, a season that begins in a year, or a holiday."""
    if name in MONTHS:
        return month_text(year, MONTHS[name])
    if name in SEASONS:
        first, last = SEASONS[name]
        return f"{month_text(year, first)}/{month_text(year, last)}"
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


# The times that English time expressions may mean: a reader for each kind of expression.

AHEAD = CERTAIN + 1
"""What "in two weeks" needs: something that lies ahead. Otherwise it is how long it takes."""


@dataclass(frozen=True, slots=True)
class Time:
    """The times that words may mean, in order; the tense chooses among them.

    ``needs`` is the certainty that the tense must have to choose (see ``find.Tense``). 0 means that
    the words choose themselves: a single time is the one that is meant, several leave it open.
    """

    times: tuple[str, ...]
    needs: int = 0
    reach: int = 300
    """Number of days within which a date lies ahead that is not told in full."""

    def readings(self, today: date, direction: int, certainty: int) -> tuple[str, ...]:
        """Return the times that remain in a tense, the likeliest first."""
        if not self.needs:
            return self.times
        past = [time for time in self.times if first_day(time) <= today][::-1]
        future = [time for time in self.times if today <= last_day(time)]
        both = tuple(dict.fromkeys((*past[:1], *future[: 1 if self.needs == WEAK else 2])))
        if direction == 0 or certainty < self.needs:
            return both
        chosen = past if direction < 0 else future
        if not chosen:
            return ()
        if self.needs == WEAK:
            # "School starts on 1 May", said on 2 May: only a sure sign of the past reaches so far.
            far = abs((first_day(chosen[0]) - today).days) > self.reach
            return both if far and (direction > 0 or certainty < CERTAIN) else (chosen[0],)
        # "We met on Monday", said on a Monday; "it rained in May", said in May.
        now = first_day(chosen[0]) <= today <= last_day(chosen[0])
        open_ = now and (direction < 0 or self.needs == LIKELY)
        return tuple(chosen[: 2 if open_ else 1])


_STEPS = {"last": -1, "this": 0, "next": 1, "before last": -2, "after next": 2}

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


def read_named(match: re.Match[str], at: datetime) -> Time | None:
    """Read "May 2023", "in May", "in summer 2021", "in the autumn", "on Christmas Eve"."""
    name = match[1]
    needs = WEAK if name in HOLIDAYS else CERTAIN
    return _yearly(match, at, lambda year: named_time(name, year), needs)


def read_year(match: re.Match[str], at: datetime) -> Time | None:
    """Read "in 2022"."""
    return Time((year_text(int(match[1])),))


def read_part(match: re.Match[str], at: datetime) -> Time | None:
    """Read "the first half of June", "the last week of April"."""
    month = MONTHS[match["month"]]
    part = -1 if match[1] in ("last", "final") else ORDINALS[match[1]] - 1
    size = 15 if match[2] == "half" else 7
    if part > (1 if size == 15 else 3):
        return None
    return _yearly(match, at, lambda year: part_of_month(part, size, year, month), WEAK)


def read_weekday(match: re.Match[str], at: datetime) -> Time | None:
    """Read "Friday", "Tuesday morning", "Friday the 21st", "Monday next week"."""
    day = at.date() + timedelta(days=WEEKDAYS[match[1]] - at.weekday())
    if match["step"]:
        return Time(((day + timedelta(weeks=_STEPS[match["step"]])).isoformat(),))
    if match["day"]:
        weeks = [day + timedelta(weeks=step) for step in range(-8, 9)]
        number = _day_number(match["day"])
        return Time(tuple(week.isoformat() for week in weeks if week.day == number), WEAK)
    weeks = [day + timedelta(weeks=step) for step in (-2, -1, 0, 1, 2)]
    return Time(tuple(week.isoformat() for week in weeks), LIKELY)


def read_of_month(match: re.Match[str], at: datetime) -> Time | None:
    """Read "the 25th", which is near; else the talk may be of another month."""
    number = _day_number(match[1])
    months = range(12 * at.year + at.month - 4, 12 * at.year + at.month + 3)
    times = _each(months, lambda month: date(month // 12, month % 12 + 1, number).isoformat())
    return Time(times, WEAK, reach=21)


def read_of_named_month(match: re.Match[str], at: datetime) -> Time | None:
    """Read "the first of next month"."""
    month = at.year * 12 + at.month - 1 + _STEPS[match[2]]
    year, number = month // 12, month % 12 + 1
    last = monthrange(year, number)[1]
    day = last if match[1] == "last" else _day_number(match[1])
    return Time((date(year, number, day).isoformat(),))


def read_simple(match: re.Match[str], at: datetime) -> Time | None:
    """Read "today", "tomorrow evening", "the day before yesterday"."""
    step = SIMPLE.get(match[2], 1) * (2 if match[1] else 1)
    return Time(((at.date() + timedelta(days=step)).isoformat(),))


def read_part_of_day(match: re.Match[str], at: datetime) -> Time | None:
    """Read "last night", "this morning"."""
    return Time(((at.date() - timedelta(days=match[1] == "last")).isoformat(),))


def read_stepped(match: re.Match[str], at: datetime) -> Time | None:
    """Read "last week", "next weekend", "the week after next", "the month" (at its end)."""
    return _unit_away(match["unit"], at.date(), _STEPS[match["step"] or "this"])


def read_weekend(match: re.Match[str], at: datetime) -> Time | None:
    """Read "over the weekend": the one before or the one to come, as the tense tells."""
    return Time(tuple(weekend_of(at.date(), weeks) for weeks in (-1, 0, 1)), LIKELY)


def _unit_away(unit: str, today: date, step: int) -> Time:
    if unit == "weekend":
        return _weekend_away(today, step)
    if unit == "week":
        # On a Sunday, "this week" may be that which is over, or that which begins.
        steps = (step, step + 1) if today.weekday() == 6 and step in (-1, 0) else (step,)
        return Time(tuple(week_of(today, item) for item in steps))
    if unit == "month":
        return Time((month_text(today.year, today.month + step),))
    return Time((year_text(today.year + step),))


def _weekend_away(today: date, step: int) -> Time:
    if step == 0 and today.weekday() < 2:
        # On Monday and Tuesday, "this weekend" may be the past or the coming one.
        return Time((weekend_of(today, -1), weekend_of(today)), LIKELY)
    # "Next weekend" is the coming one, or the one after it.
    steps = (step - 1, step) if step > 0 and today.weekday() < 5 else (step,)
    return Time(tuple(weekend_of(today, item) for item in steps))


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
    week = week_of(today)
    if step == "next" and coming.isoformat() <= week[11:]:
        return Time((coming.isoformat(), (coming + timedelta(weeks=1)).isoformat()))
    return Time((coming.isoformat(),))


def read_stepped_name(match: re.Match[str], at: datetime) -> Time | None:
    """Read "last May", "next summer", "last Christmas".

    In October, "last May" may be that of this year; in February, "next May" that of this year.
    """
    step, name, today = match[1], match[2], at.date()
    before, this, after = (named_time(name, today.year + item) for item in (-1, 0, 1))
    if step == "this":
        if first_day(before) <= today <= last_day(before):
            return Time((before,))  # "this winter", said in January
        over = last_day(this) < today
        return Time((this, after), LIKELY) if over else Time((this,))
    if step == "next":
        return Time((this, after) if first_day(this) > today else (after,))
    if last_day(this) < today:
        return Time((this, before))
    if last_day(before) >= today:
        return Time((named_time(name, today.year - 2),))
    return Time((before,))


def read_ago(match: re.Match[str], at: datetime) -> Time | None:
    """Read "two weeks ago", "3 days from now"."""
    count = COUNTS.get(match[1]) or int(match[1])
    return _counted(count if match[3] != "ago" and match[3] != "back" else -count, match[2], at)


def read_ahead(match: re.Match[str], at: datetime) -> Time | None:
    """Read "in two weeks", which is a time only where something lies ahead."""
    if UNITS[match[2]] in ("hour", "minute"):
        return Time(())
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
        return Time((week_of(today, 2 * count),))
    if unit == "decade":
        return Time(())
    return _unit_away(unit, today, count)


def read_nothing(match: re.Match[str], at: datetime) -> Time | None:
    """Read what is no date, such as a habit or a time of day."""
    return Time(())


# The grammar of English time expressions: what times the words may mean, before any tense.
#
# A sentence is matched as the text of its tokens in lower case, one space between two tokens. Each
# rule is a regular expression with a reader, which returns a :class:`Time`: all times that the
# words allow. Rules are tried in the order of :data:`_RULES`.

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_WD = "|".join(sorted((day for day in WEEKDAYS if not day.endswith("days")), key=len, reverse=True))
_TH = r"(?:st|nd|rd|th)?"
_DAY = rf"(?:0?[1-9]|[12]\d|3[01]){_TH}"
_NTH = r"(?:[1-9]|[12]\d|3[01])(?:st|nd|rd|th)"
_ORDINAL = "|".join(ORDINALS)
_YEAR = r"(?:19|20)\d\d"
_SEASON = "|".join(SEASONS)
_HOLIDAY = "|".join(sorted(HOLIDAYS, key=len, reverse=True))
_PART = rf"(?:{'|'.join(sorted(DAYPARTS))})"
_IN_DAY = rf"(?: {_PART})?"
_UNIT = "|".join(sorted(UNITS, key=len, reverse=True))
_COUNT = rf"\d{{1,3}}|{'|'.join(COUNTS.keys() - {'couple'})}"
_IN_YEAR = rf"(?: ?,?(?: of)? (?P<year>{_YEAR})| (?:of )?(?P<step>last|this|next) year)?"
"""An optional year after a month or a day."""
_ON_DAY = rf"(?:(?P<weekday>{_WD}){_IN_DAY} ?,? )?"
_TO = r" ?(?:-|–|to|until|till|through|and) ?"

_BARE = "|".join(
    sorted(
        words.PREPOSITIONS | words.CONJUNCTIONS | words.PRONOUNS | words.POSSESSIVES
        | words.DETERMINERS | words.ADVERBS | words.TRAILING | verbs.FINITE_AUX
        | {"not", "please", "pls", "at", "until", "till", "already", "whenever", "onwards"}
    )
)  # fmt: skip
_END = rf"(?= (?:{_BARE}|[^\w ])(?: |\Z)|\Z)"
"""What may follow a time of which the words may also describe a noun: "in summer | clothes"."""
_MONTH_AFTER = (
    r"(?:in|by|since|from|until|till|before|after|during|between|of|early|late|mid"
    rf"|(?:{_MONTH}|{_YEAR}) (?:to|and|through|-|–)|(?:slipped|pushed|moved|postponed) to)"
)
_YEAR_AFTER = (
    r"(?:in|by|since|from|until|till|before|after|during|between|early|late|mid|as of|end of"
    rf"|{_YEAR} (?:to|and|through|-|–))"
)

_UNDATED = (
    rf"(?:every|each|any|most|alternate) (?:other |second )?(?:{_WD}|{_UNIT})"
    rf"{_IN_DAY}",
    rf"(?:once|twice|(?:{_COUNT}) times) (?:a|an|every|each|per) (?:{_UNIT})",
    rf"(?:a |an |the |some )?(?:few|several|many|couple(?: of)?|half an?|long|good)"
    rf"(?: (?:{_UNIT}|time))? (?:ago|back|later)",
    r"(?:a|some|quite a|a little) (?:while|time) (?:ago|back)",
    rf"the (?:other|next|following|previous|same|whole) (?:{_UNIT}|{_WD}|{_PART})",
    rf"the (?:last|past|next|first) (?:(?:{_COUNT}|few|couple(?: of)?|several) )?"
    rf"(?:{_UNIT})(?! of (?:{_MONTH})\b)",
    rf"(?:{_COUNT}) (?:{_UNIT}) (?:on|from|after|before) (?:{_WD}|today|tomorrow|yesterday)"
    rf"|(?:{_WD}|today|tomorrow|yesterday) (?:week|fortnight)",
    rf"(?:{_COUNT}) (?:{_UNIT}) (?:later|earlier|apart|straight)",
    rf"(?:{_COUNT}) (?:{_UNIT}) and (?:a half|{_COUNT}) .{{0,9}}?ago",
    rf"(?:{_COUNT}) (?:or|to|-|–) (?:{_COUNT}) (?:{_UNIT}) (?:ago|back)",
    rf"(?:{_WD})(?:(?: ?[-–/&,] ?| and | or |, and | )(?:{_WD}))+{_IN_DAY}",
)
"""Habits and vague times, which are found so that nothing else takes their words."""

_RULES: tuple[tuple[str | None, str, Reader], ...] = (
    *((None, pattern, read_nothing) for pattern in _UNDATED),
    (None, r"([12]\d{3})([-/])(\d\d)\2(\d\d)(?:t\d\S*)?", read_iso),
    (None, r"(\d{1,2})([/.])(\d{1,2})\2(\d{4})", read_slashed),
    (None, rf"{_ON_DAY}(?:the )?(?P<day>{_DAY}|{_ORDINAL})"
     rf"(?: of)? (?P<month>{_MONTH})\b{_IN_YEAR}", read_month_day),
    (None, rf"(?:the )?(?P<day>\d\d?){_TH}{_TO}(?:the )?(?P<until>\d\d?){_TH}"
     rf"(?: of)? (?P<month>{_MONTH}){_IN_YEAR}", read_month_day),
    (None, rf"(?P<month>{_MONTH}) (?P<day>\d\d?){_TH}{_TO}"
     rf"(?P<until>\d\d?){_TH}(?! (?:{_MONTH})){_IN_YEAR}", read_month_day),
    (None, rf"{_ON_DAY}(?P<month>{_MONTH}) (?:the )?(?P<day>{_DAY}|{_ORDINAL})"
     rf"(?! (?:week|half|{_WD})){_IN_YEAR}", read_month_day),
    (None, rf"(?:the )?({_ORDINAL}|last|final) (half|week) (?:of|in) (?P<month>{_MONTH})"
     rf"{_IN_YEAR}", read_part),
    (None, rf"(?:the )?(?:{_ORDINAL}|last) (?:{_WD}) (?:of|in)"
     rf" (?:(?:the|each|every) \w+|{_MONTH})(?: {_YEAR})?", read_nothing),
    (None, rf"(?:mid-)?(?P<month>{_MONTH})(?: ?,?(?: of)? (?P<year>{_YEAR})"
     r"| (?:of )?(?P<step>last|this|next) year)", read_named),
    (None, rf"mid-(?P<month>{_MONTH})(?P<year>)(?P<step>){_END}", read_named),
    (_MONTH_AFTER, rf"(?P<month>{_MONTH})(?P<year>)(?P<step>){_END}", read_named),
    (None, rf"(last|this past|this coming|this|next|past|coming) ({_WD}){_IN_DAY}"
     rf"{_END}", read_stepped_weekday),
    (None, rf"(?:last|this|next) week (?:on )?(?:{_WD})", read_nothing),
    (None, rf"(?P<step>last|this|next) (?P<unit>week|weekend|month|year){_END}", read_stepped),
    (None, r"the (?P<unit>week|weekend|month|year) (?P<step>before last|after next)", read_stepped),
    (r"(?:over|at|on|during)", rf"the weekend{_END}", read_weekend),
    (r"(?:end|close|start|beginning|middle) of", rf"the (?P<unit>week|month|year)(?P<step>){_END}",
     read_stepped),
    (None, rf"(last|this|next) ({_MONTH}|{_SEASON}|{_HOLIDAY}){_END}",
     read_stepped_name),
    (None, rf"(last(?= (?:night|evening))|this) {_PART}{_END}", read_part_of_day),
    (None, rf"(the day (?:before (?=yes)|after (?=tom)))?"
     rf"(today|tonight|yesterday|tomorrow|tmrw|tmr){_IN_DAY}", read_simple),
    (None, rf"({_WD}){_IN_DAY}(?: ,? ?the (?P<day>{_NTH})| (?:of )?"
     rf"(?P<step>last|this|next) week)?{_END}", read_weekday),
    (None, rf"(?:the )?({_NTH}|{_ORDINAL}|last) of (last|this|next) month", read_of_named_month),
    (r"(?:on|by|until|till|since|from|for|to|before|after|was|is|sorry|actually|,)",
     rf"the ({_NTH}){_END}", read_of_month),
    (None, rf"({_COUNT}) ({_UNIT}) (ago|back|from now|from today)", read_ago),
    (r"in", rf"({_COUNT}) ({_UNIT}){_END}", read_ahead),
    (None, rf"(?:(?:early|late|mid|end of) )?q[1-4](?: {_YEAR})?", read_nothing),
    (None, rf"({_SEASON})(?: of)? (?P<year>{_YEAR})(?P<step>){_END}", read_named),
    (r"(?:in|during|over|since|by|until|till|before|after)(?: the)?",
     rf"(?:the )?({_SEASON}){_IN_YEAR}{_END}", read_named),
    (r"(?:at|on|since|until|till|by|before|after|over)", rf"({_HOLIDAY}){_IN_YEAR}{_END}",
     read_named),
    (_YEAR_AFTER, rf"({_YEAR})(?:(?= (?:to|and|until|till|through|-|–) {_YEAR}{_END})"
     rf"|(?! (?:to|and|-|–) \d){_END})", read_year),
    (None, r"\d{1,2}(?: : \d\d| ?(?:am|pm|o'clock)|:\d\d)(?: ?(?:am|pm))?",
     read_nothing),
    (r"at", rf"(?:{_COUNT}|ten)(?: (?:past|to) (?:{_COUNT}))?(?: in the {_PART})?{_END}",
     read_nothing),
)  # fmt: skip
"""What stands before an expression, if it must; the expression; and what reads it."""
_FIRST = "|".join(
    sorted(
        {*MONTHS, *WEEKDAYS, *ORDINALS, *SEASONS, *SIMPLE, *COUNTS}
        | {name.split()[0] for name in HOLIDAYS}
        | set(
            "every each any most alternate once twice a an the some quite last past next this "
            r"coming final few several many half long tmrw tmr mid-\w+ q[1-4] \d\S*".split()
        ),
        key=len, reverse=True,
    )
)  # fmt: skip
STARTS = re.compile(rf"(?:(?<= )|\A)(?:{_FIRST})(?= |\Z)")
"""Finds the words with which a time expression can start."""


@cache
def _compiled_rules() -> tuple[tuple[re.Pattern[str] | None, re.Pattern[str], Reader], ...]:
    """The rules, compiled when the first time is read, because that takes a tenth of a second."""
    return tuple(
        (
            None if before is None else re.compile(rf"(?:^| ){before} \Z"),
            re.compile(rf"(?:{pattern})(?= |\Z)"),
            reader,
        )
        for before, pattern, reader in _RULES
    )


def read_time(said: str, start: int, at: datetime) -> tuple[int, Time] | None:
    """Read the expression that starts at an offset of a sentence: its end, and what it may mean.

    Where no rule fits, or none that makes a date of the calendar, there is none.
    """
    for before, pattern, reader in _compiled_rules():
        match = pattern.match(said, start)
        if match is None or (before and not before.search(said, max(start - 24, 0), start)):
            continue
        try:
            found = reader(match, at)
        except (ValueError, OverflowError):  # 31 June, or a year out of range
            found = Time(())
        if found is not None:
            return match.end(), found
    return None
