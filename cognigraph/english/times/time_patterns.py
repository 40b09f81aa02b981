"""Read the one time expression that starts at a given token: the grammar of time expressions.

:func:`read_time` returns the end of the expression and its canonical text, which is empty for a
time that cannot be resolved ("a few years ago"). It returns ``None`` if no expression starts at
the token.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from functools import lru_cache

from cognigraph.english.times import calendar
from cognigraph.english.times.time_words import (
    AMBIGUOUS,
    COUNTS,
    DAYPARTS,
    MONTHS,
    ORDINALS,
    SIMPLE,
    STEPS,
    UNITS,
    WEEKDAYS,
)
from cognigraph.english.times.utterance import Found, Utterance
from cognigraph.english.words import word_set

_ISO = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?")
_SLASHED = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")
_BOTH = re.compile(r"(\d{1,2})-(\d{1,2})")
_DECADE = re.compile(r"(19|20)?(\d0)s")
YEAR = re.compile(r"(?:19|20)\d\d")
_YEAR_AFTER = word_set("in since by from during until of early late around for between")
_SEASON_AFTER = word_set("in during over since by until")
_HOLIDAY_AFTER = word_set("at on over since by until before after for of last this next past")
_HOLIDAY_STARTS = frozenset(key[0] for key in calendar.HOLIDAYS)


def read_time(said: Utterance, i: int) -> Found:
    """Read the expression that starts at token ``i``.

    Raises ``ValueError`` or ``OverflowError`` for a date that does not exist.
    """
    low = said.low(i)
    vague = _vague(said, i)
    if vague is not None:
        return vague
    if low[0].isdigit():
        return _numeric(said, i)
    for reader in _READERS.get(low, ()):
        found = reader(said, i)
        if found is not None:
            return found
    if low.startswith("mid-") and low[4:] in MONTHS:
        return i + 1, _lone_month(said, i, MONTHS[low[4:]])
    return None


@lru_cache(maxsize=8192)
def starts_time(low: str) -> bool:
    """Return whether a time expression can start with the word."""
    return low in _READERS or low in _VAGUE or low[0].isdigit() or low.startswith("mid-")


def _vague(said: Utterance, i: int) -> Found:
    """Find "a few years ago", "several months back", "a while ago", "the other day"."""
    j = i + 1 if said.low(i) in ("a", "the", "some", "quite") else i
    first, second = said.low(j), said.low(j + 1)
    if (first in ("few", "several", "many", "long") and second in UNITS) or second == "time":
        return (j + 3, "") if said.low(j + 2) in ("ago", "back") else None
    if first == "time" and said.low(i) == "some" and second in ("ago", "back"):
        return j + 2, ""
    if first == "while" and j > i and second in ("ago", "back"):
        return j + 2, ""
    if first == "other" and j > i and second in UNITS:
        return j + 2, ""
    return _habit(said, i) or _clock(said, i)


def _habit(said: Utterance, i: int) -> Found:
    """Find "every Tuesday evening", "each week", "twice a year", "three times a week"."""
    low, following = said.low(i), said.low(i + 1)
    if low in ("every", "each") and (following in UNITS or following in WEEKDAYS):
        return i + 2 + (said.low(i + 2) in DAYPARTS), ""
    j = i + 1 if low in ("once", "twice") else i + 2 if following == "times" else 0
    if j and said.low(j) in ("a", "every", "each") and said.low(j + 1) in UNITS:
        return j + 2, ""
    return None


def _clock(said: Utterance, i: int) -> Found:
    """Find "at ten past four", "at 5 pm", "at 9". A time of day gives no date."""
    low, j = said.low(i), i + 1
    if said.low(i - 1) != "at" or not (low in COUNTS or low[0].isdigit()) or low in ("a", "an"):
        return None
    if said.low(j) in ("past", "to") and said.low(j + 1) in COUNTS:
        j += 2
    marked = said.low(j) in ("am", "pm", "o'clock", "a.m", "p.m") or low.endswith(("am", "pm"))
    j += said.low(j) in ("am", "pm", "o'clock", "a.m", "p.m")
    if (said.low(j), said.low(j + 1)) == ("in", "the") and said.low(j + 2) in DAYPARTS:
        return j + 3, ""
    return (j, "") if marked or j > i + 1 or (":" in low or said.bare(j)) else None


def _simple(said: Utterance, i: int) -> Found:
    low, before = said.low(i), said.low(i - 1)
    offset = SIMPLE[low]
    offset -= before == "before" and low == "yesterday"
    offset += before == "after" and low == "tomorrow"
    end = i + 1 + (said.low(i + 1) in DAYPARTS)
    return end, calendar.day_text(said.today + timedelta(days=offset))


def _anchored(said: Utterance, i: int) -> Found:
    """Read "last week", "this past Friday", "next month", "last June", "this morning"."""
    step, j = STEPS[said.low(i)], i + 1
    if step == 0 and said.low(j) in ("past", "last", "coming"):
        step, j = STEPS[said.low(j)], j + 1
    unit, today = said.low(j), said.today
    after = j + 1 + (said.low(j + 1) in DAYPARTS)
    if unit in WEEKDAYS:
        return after, calendar.day_text(calendar.weekday_away(WEEKDAYS[unit], today, step or 1))
    if unit in MONTHS:
        return j + 1, calendar.month_away(MONTHS[unit], today, step)
    if unit in calendar.SEASONS:
        return j + 1, calendar.season_away(unit, today, step)
    if unit in _HOLIDAY_STARTS:
        return _holiday(said, j, step)
    if unit in DAYPARTS:
        if unit != "night" and step != 0:
            return None
        return j + 1, calendar.day_text(today + timedelta(days=min(step, 0)))
    canonical = calendar.unit_away(UNITS.get(unit, ""), today, step)
    return None if canonical is None or unit.endswith("s") else (j + 1, canonical)


def _definite(said: Utterance, i: int) -> Found:
    """Read "the week before last", "the Friday after next", "over the weekend", "the 90s"."""
    unit, twice = said.low(i + 1), (said.low(i + 2), said.low(i + 3))
    step = {("before", "last"): -2, ("after", "next"): 2}.get(twice)
    if step is not None and unit in WEEKDAYS:
        return i + 4, calendar.day_text(calendar.weekday_away(WEEKDAYS[unit], said.today, step))
    if step is not None:
        if unit == "night":
            return i + 4, calendar.counted_away(unit, said.today, step)
        canonical = calendar.unit_away(UNITS.get(unit, ""), said.today, step)
        return None if canonical is None else (i + 4, canonical)
    if unit == "weekend" and said.low(i - 1) in ("over", "on", "at", "during", "for"):
        return i + 2, calendar.weekend_of(said.today + timedelta(weeks=min(said.tense(i), 0)))
    if unit in calendar.SEASONS and said.low(i - 1) in _SEASON_AFTER:
        return _season(said, i + 1)
    decade = _DECADE.fullmatch(unit) or _DECADE.fullmatch(said.low(i + 2))
    if decade is not None and (unit == "'" or _DECADE.fullmatch(unit)):
        first = int((decade[1] or ("19" if int(decade[2]) > 20 else "20")) + decade[2])
        return i + 2 + (unit == "'"), f"{first}/{first + 9}"
    return None


def _season(said: Utterance, i: int) -> Found:
    """Read "in the summer of 2022", "in summer 2021", "in the autumn"."""
    j = i + 1 + (said.low(i + 1) == "of")
    if YEAR.fullmatch(said.low(j)):
        return j + 1, calendar.season_of(said.low(i), int(said.low(j)))
    index = i - 1 - (said.low(i - 1) == "the")
    if said.low(index) not in _SEASON_AFTER or not said.bare(i + 1):
        return None
    return i + 1, calendar.season_away(said.low(i), said.today, said.tense(i) or 1)


def _holiday(said: Utterance, i: int, step: int = 0) -> Found:
    """Read "on Christmas Eve", "last Christmas", "since Easter", "on New Year's Day 2020"."""
    sizes = (size for size in (4, 3, 2, 1) if _holiday_words(said, i, size) in calendar.HOLIDAYS)
    size = next(sizes, 0)
    if not size or said.low(i - 1) not in _HOLIDAY_AFTER:
        return None
    rule, end = calendar.HOLIDAYS[_holiday_words(said, i, size)], i + size
    j = end + (said.low(end) in (",", "of"))
    if YEAR.fullmatch(said.low(j)):
        return j + 1, calendar.day_text(calendar.holiday(rule, int(said.low(j))))
    if not said.bare(end):
        return None
    tense = step or said.tense(i) or 1
    return end, calendar.day_text(calendar.holiday_away(rule, said.today, tense))


def _holiday_words(said: Utterance, i: int, size: int) -> tuple[str, ...]:
    return tuple(token.low for token in said.tokens[i : i + size])


def _weekday(said: Utterance, i: int) -> Found:
    low, before = said.low(i), said.low(i - 1)
    if low.endswith("days") or (low in AMBIGUOUS and before != "on"):
        return None  # "Sundays" is a habit, and "sun" usually the star
    habit = said.low(i + 1).endswith("s") and said.low(i + 1)[:-1] in DAYPARTS
    if habit or before in ("every", "each", "a", "the"):
        return None
    end = i + 1 + (said.low(i + 1) in DAYPARTS)
    side = said.tense(i) or (1 if before == "for" else -1)
    day = calendar.weekday_away(WEEKDAYS[low], said.today, side)
    return end, calendar.day_text(day)


def _month_first(said: Utterance, i: int) -> Found:
    """Read "May 7th, 2023", "May 3-10", "May 2023", "in May".

    A month without a year is the nearest one that fits the tense of the sentence.
    """
    low, month = said.low(i), MONTHS[said.low(i)]
    j = i + 1
    both = _BOTH.fullmatch(said.low(j))
    if both is not None:
        days = [calendar.month_day(month, int(d), said.today, said.tense(i)) for d in both.groups()]
        return (j + 1, calendar.span_text(*days)) if days[0] < days[1] else None
    number = _day_number(said.low(j))
    if number is not None:
        return _with_year(said, j + 1, month, number, i)
    j += said.low(j) in (",", "of")
    if YEAR.fullmatch(said.low(j)):
        return j + 1, calendar.month_text(int(said.low(j)), month)
    fitting = said.low(i - 1) in _YEAR_AFTER | {"early", "late", "mid"}
    if low in AMBIGUOUS and not (said.tokens[i].text[0].isupper() and fitting):
        return None
    return i + 1, _lone_month(said, i, month)


def _day_number(low: str) -> int | None:
    match = _ORDINAL.fullmatch(low)
    number = int(match[1]) if match is not None else ORDINALS.get(low, 0)
    return number if 1 <= number <= 31 else None


def _lone_month(said: Utterance, i: int, month: int) -> str:
    today, tense = said.today, said.tense(i)
    if month == today.month:
        return calendar.month_text(today.year, month)
    if tense == 0:  # "signed up for the race in August": an arrangement lies ahead
        tense = 1
    return calendar.month_away(month, today, tense)


def _with_year(said: Utterance, j: int, month: int, day: int, i: int) -> Found:
    k = j + (said.low(j) in (",", "of"))
    if YEAR.fullmatch(said.low(k)):
        return k + 1, calendar.day_text(date(int(said.low(k)), month, day))
    return j, calendar.day_text(calendar.month_day(month, day, said.today, said.tense(i)))


def _ordinal_first(said: Utterance, i: int) -> Found:
    """Read "the first of May"."""
    month = MONTHS.get(said.low(i + 2)) if said.low(i + 1) == "of" else None
    return None if month is None else _with_year(said, i + 3, month, ORDINALS[said.low(i)], i)


def _numeric(said: Utterance, i: int) -> Found:
    """Read "2023-05-07", "25/12/2023", "7 May", "the 5th of May 2023", "2022", "3 weeks ago"."""
    low = said.low(i)
    iso = _ISO.fullmatch(low)
    if iso is not None:
        year, month = int(iso[1]), int(iso[2])
        if iso[3] is None:
            return i + 1, calendar.month_text(year, date(year, month, 1).month)
        return i + 1, calendar.day_text(date(year, month, int(iso[3])))
    slashed = _SLASHED.fullmatch(low)
    if slashed is not None:
        return _slashed(i, *(int(part) for part in slashed.groups()))
    number = _day_number(low)
    if number is not None:
        j = i + 1 + (said.low(i + 1) == "of")
        if said.low(j) in MONTHS:
            return _with_year(said, j + 1, MONTHS[said.low(j)], number, i)
        if not low.isdigit():
            return _day_of_month(said, i, number)
    if YEAR.fullmatch(low) and said.low(i - 1) in _YEAR_AFTER:
        return i + 1, low
    return _counted(said, i)


def _slashed(i: int, first: int, second: int, year: int) -> Found:
    if first > 12 >= second:
        return i + 1, calendar.day_text(date(year, second, first))
    if second > 12 >= first:
        return i + 1, calendar.day_text(date(year, first, second))
    return None  # ambiguous: 5/7/2023 is in May in the US and in July elsewhere


def _day_of_month(said: Utterance, i: int, day: int) -> Found:
    before = said.low(i - 2)
    if said.low(i - 1) != "the" or not (
        before in ("on", "by", "until", "since") or before in WEEKDAYS
    ):
        return None
    today, tense = said.today, said.tense(i) or 1
    month = today.month + (tense > 0 and day < today.day) - (tense < 0 and day > today.day)
    year, month = today.year + (month - 1) // 12, (month - 1) % 12 + 1
    return i + 1, calendar.day_text(date(year, month, day))


def _counted(said: Utterance, i: int) -> Found:
    """Read "two weeks ago", "half a year ago", "in 3 days", "a week from Friday"."""
    low = said.low(i)
    half = low == "half" and said.low(i + 1) in ("a", "an")
    count = int(low) if low.isdigit() and len(low) < 4 else COUNTS.get(low)
    if half:
        return _halves(said, i + 2, 1)
    if count is None:
        return None
    j = i + 1
    if said.low(j) == "couple":
        count, j = 2, j + 1
    j += said.low(j) == "of"
    unit = said.low(j)
    if tuple(said.low(j + k) for k in (1, 2, 3)) == ("and", "a", "half"):
        return _halves(said, j, 2 * count + 1, 3)
    if unit in WEEKDAYS and said.low(j + 1) in ("ago", "back"):
        return j + 2, calendar.day_text(calendar.weekday_away(WEEKDAYS[unit], said.today, -count))
    return _distance(said, i, j, UNITS.get(unit), count)


def _distance(said: Utterance, i: int, j: int, unit: str | None, count: int) -> Found:
    """Finish an expression after its count and unit: "ago", "from now", "in ...".

    ``None`` for a duration ("for three weeks"), which is no point in time.
    """
    following = (said.low(j + 1), said.low(j + 2))
    if unit is None:
        return None
    if following[0] in ("ago", "back"):
        return j + 2, _moved(said.at, unit, -count)
    if following == ("from", "now"):
        return j + 3, _moved(said.at, unit, count)
    if following[0] == "from" and unit in ("day", "week") and following[1] != "the":
        days = count * (7 if unit == "week" else 1)
        start = _start_day(said, j + 2)
        return None if start is None else (j + 3, calendar.day_text(start + timedelta(days=days)))
    if said.low(i - 1) == "in" and following[0] not in ("'s", "of"):
        return j + 1, _moved(said.at, unit, count)
    return None


def _start_day(said: Utterance, i: int) -> date | None:
    if said.low(i) in SIMPLE:
        return said.today + timedelta(days=SIMPLE[said.low(i)])
    weekday = WEEKDAYS.get(said.low(i))
    return None if weekday is None else calendar.weekday_away(weekday, said.today, 1)


def _halves(said: Utterance, j: int, halves: int, skipped: int = 0) -> Found:
    """Read "half a year ago" as six months; halves of other units are too vague to date."""
    k = j + 1 + skipped
    if UNITS.get(said.low(j)) != "year" or said.low(k) not in ("ago", "back"):
        return None
    return k + 1, _moved(said.at, "month", -6 * halves)


def _moved(at: datetime, unit: str, count: int) -> str:
    if unit in ("hour", "minute"):
        return calendar.day_text((at + timedelta(**{f"{unit}s": count})).date())
    return calendar.counted_away(unit, at.date(), count)


_VAGUE = word_set("few several many some quite long every each once twice")
_READERS = {
    **dict.fromkeys(COUNTS, (_counted,)),
    "half": (_counted,),
    **dict.fromkeys(ORDINALS, (_ordinal_first,)),
    **dict.fromkeys(SIMPLE, (_simple,)),
    **dict.fromkeys(STEPS, (_anchored,)),
    **dict.fromkeys(MONTHS, (_month_first,)),
    **dict.fromkeys(WEEKDAYS, (_weekday,)),
    **dict.fromkeys(calendar.SEASONS, (_season,)),
    **dict.fromkeys(_HOLIDAY_STARTS, (_holiday,)),
    "the": (_definite,),
}  # fmt: skip
