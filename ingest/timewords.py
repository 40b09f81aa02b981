"""Time expressions in tokens, resolved against the time something was said.

The answer keeps the precision of the words: "yesterday" is a day, "last month" a month, "last
week" a span of days, "in 2022" a year. What cannot be resolved ("a few years ago", "the other
day") is found, so that it is not taken for a thing, but gives no date.
"""

from __future__ import annotations

import calendar
import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from cognigraph.ingest.sentences import Token
from cognigraph.ingest.words import NUMBERS, word_set

_MONTHS = {
    name.lower(): number
    for number in range(1, 13)
    for name in (calendar.month_name[number], calendar.month_abbr[number])
} | {"sept": 9}
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thur thurs", "friday fri",
         "saturday sat", "sunday sun")
    )
    for name in (*names.split(), names.split()[0] + "s")
}  # fmt: skip
_AMBIGUOUS = word_set("may march mar sun sat mon wed sep dec jan")
"""Also names or other words: a time only with a capital and in a fitting place."""
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11)}
_UNITS = {
    "day": "day", "days": "day", "week": "week", "weeks": "week", "wk": "week",
    "weekend": "weekend",
    "weekends": "weekend", "month": "month", "months": "month", "year": "year", "years": "year",
    "yr": "year", "yrs": "year", "night": "night", "nights": "night",
}  # fmt: skip
_DAYPARTS = word_set("morning afternoon evening night")
_PREPOSITIONS = word_set("in on at during by since from over until before after of")
_PAST = frozenset(
    """was were had did went came got saw met bought took made gave left told said felt found lost
    began ran won flew drove ate wrote read sold spent taught thought kept held
    built sent""".split()
)
_FUTURE = word_set(
    """will going plan plans planning planned upcoming hope hoping soon next shall
    tomorrow wait looking coming excited scheduled"""
)
_ISO = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?")
_SLASHED = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_YEAR_AFTER = word_set("in since by from during until of early late around for")


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Tokens ``[start, end)`` say the time ``when`` (canonical text of ``cognigraph.times``).

    ``when`` is empty for a time that cannot be resolved, such as "a few years ago".
    """

    start: int
    end: int
    when: str


Found = tuple[int, str] | None
"""End of the expression and its canonical text."""


def find_times(tokens: Sequence[Token], at: datetime) -> list[TimeSpan]:
    """Every time expression of a sentence, in order and without overlap."""
    spans: list[TimeSpan] = []
    today = at.date()
    future: bool | None = None
    place = 0
    while place < len(tokens):
        low = tokens[place].low
        if low not in _TRIGGERS and not low[0].isdigit():
            place += 1
            continue
        if future is None:
            future = any(token.low in _FUTURE for token in tokens)
        found = _safely_read(tokens, place, today, future)
        if found is None:
            place += 1
            continue
        end, when = found
        start = _with_preposition(tokens, place, spans[-1].end if spans else 0)
        spans.append(TimeSpan(start, end, when))
        place = end
    return spans


def _with_preposition(tokens: Sequence[Token], start: int, floor: int) -> int:
    while start > floor and tokens[start - 1].low in _PREPOSITIONS:
        start -= 1
    return start


def _safely_read(tokens: Sequence[Token], i: int, today: date, future: bool) -> Found:
    try:
        return _read(tokens, i, today, future)
    except (ValueError, OverflowError):  # 31 June, or beyond the calendar's ends
        return None


def _read(tokens: Sequence[Token], i: int, today: date, future: bool) -> Found:
    low = tokens[i].low
    vague = _vague(tokens, i)
    if vague is not None:
        return vague
    if low[0].isdigit():
        return _numeric(tokens, i, today, future)
    if low in _SIMPLE:
        return _simple(tokens, i, today)
    if low in ("last", "past", "next", "this", "coming", "previous", "following"):
        return _anchored(tokens, i, today)
    if low in _MONTHS:
        return _month_first(tokens, i, today, future)
    if low in _WEEKDAYS:
        return _weekday(tokens, i, today, future)
    return _counted(tokens, i, today)


def _vague(tokens: Sequence[Token], i: int) -> Found:
    """Find "a few years ago", "several months back", "a while ago", "the other day"."""
    j = i + 1 if tokens[i].low in ("a", "the", "some", "quite") else i
    first, second = _low(tokens, j), _low(tokens, j + 1)
    if (first in ("few", "several", "many", "long") and second in _UNITS) or second == "time":
        return (j + 3, "") if _low(tokens, j + 2) in ("ago", "back") else None
    if first == "while" and j > i and second in ("ago", "back"):
        return j + 2, ""
    return (j + 2, "") if first == "other" and j > i and second in _UNITS else None


def _low(tokens: Sequence[Token], i: int) -> str:
    return tokens[i].low if 0 <= i < len(tokens) else ""


def _day(day: date) -> str:
    return day.isoformat()


def _month(year: int, month: int) -> str:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    date(year, month, 1)  # raises beyond the calendar
    return f"{year:04}-{month:02}"


def _year(year: int) -> str:
    date(year, 1, 1)
    return f"{year:04}"


def _days(first: date, last: date) -> str:
    return f"{first.isoformat()}/{last.isoformat()}"


def _week(day: date) -> str:
    monday = day - timedelta(days=day.weekday())
    return _days(monday, monday + timedelta(days=6))


def _weekend(day: date) -> str:
    monday = day - timedelta(days=day.weekday())
    return _days(monday + timedelta(days=5), monday + timedelta(days=6))


_SIMPLE = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}


def _simple(tokens: Sequence[Token], i: int, today: date) -> Found:
    low = tokens[i].low
    offset = _SIMPLE[low]
    if _low(tokens, i - 1) == "before" and low == "yesterday":
        offset -= 1
    if _low(tokens, i - 1) == "after" and low == "tomorrow":
        offset += 1
    end = i + 1 + (_low(tokens, i + 1) in _DAYPARTS)
    return end, _day(today + timedelta(days=offset))


def _anchored(tokens: Sequence[Token], i: int, today: date) -> Found:
    """Read "last week", "this past Friday", "next month", "last June", "this morning"."""
    step = {"last": -1, "past": -1, "previous": -1, "this": 0}.get(tokens[i].low, 1)
    j = i + 1
    if step == 0 and _low(tokens, j) in ("past", "last", "coming"):
        step = 1 if _low(tokens, j) == "coming" else -1
        j += 1
    unit = _low(tokens, j)
    if unit in _WEEKDAYS:
        return j + 1 + (_low(tokens, j + 1) in _DAYPARTS), _near_weekday(unit, today, step or 1)
    if unit in _MONTHS:
        return j + 1, _near_month(_MONTHS[unit], today, step)
    if unit in _SEASONS:
        return j + 1, _near_season(unit, today, step)
    if unit in _DAYPARTS:
        if unit != "night" and step != 0:
            return None
        return j + 1, _day(today + timedelta(days=min(step, 0)))
    if unit == "week" and _low(tokens, j + 1) in _WEEKDAYS:
        return None
    canonical = _near_unit(_UNITS.get(unit, ""), today, step) if not unit.endswith("s") else None
    return None if canonical is None else (j + 1, canonical)


def _near_unit(unit: str, today: date, step: int) -> str | None:
    if unit == "week":
        return _week(today + timedelta(weeks=step))
    if unit == "weekend":
        # On a weekend "last weekend" is the one before, as in the middle of the week.
        return _weekend(today + timedelta(weeks=step))
    if unit == "month":
        return _month(today.year, today.month + step)
    if unit == "year":
        return _year(today.year + step)
    return None


def _near_weekday(name: str, today: date, step: int) -> str:
    ahead = (_WEEKDAYS[name] - today.weekday()) % 7
    if step < 0:
        return _day(today - timedelta(days=(7 - ahead) % 7 or 7))
    return _day(today + timedelta(days=ahead or 7))


def _near_month(month: int, today: date, step: int) -> str:
    year = today.year
    if step < 0 and month >= today.month:
        year -= 1
    if step > 0 and month <= today.month:
        year += 1
    return _month(year, month)


def _near_season(name: str, today: date, step: int) -> str:
    first, last = _SEASONS[name]
    year = today.year
    if step < 0 and today.month <= last:
        year -= 1
    if step > 0 and today.month >= first:
        year += 1
    return f"{_month(year, first)}/{_month(year, last)}"


def _weekday(tokens: Sequence[Token], i: int, today: date, future: bool) -> Found:
    low, before = tokens[i].low, _low(tokens, i - 1)
    if low.endswith("days") or (low in _AMBIGUOUS and before != "on"):
        return None  # "Sundays" is a habit, "sun" mostly a star
    if before in ("every", "each", "a", "the"):
        return None
    return i + 1 + (_low(tokens, i + 1) in _DAYPARTS), _near_weekday(
        low, today, 1 if future else -1
    )


def _month_first(tokens: Sequence[Token], i: int, today: date, future: bool) -> Found:
    """Read "May 7th, 2023", "May 2023", "in May"; alone, the nearest that the tense allows."""
    low, month = tokens[i].low, _MONTHS[tokens[i].low]
    j = i + 1
    number = _ORDINAL.fullmatch(_low(tokens, j))
    if number is not None and 1 <= int(number[1]) <= 31:
        return _with_year(tokens, j + 1, today, month, int(number[1]), future)
    if _low(tokens, j) in (",", "of"):
        j += 1
    if _YEAR.fullmatch(_low(tokens, j)):
        return j + 1, _month(int(_low(tokens, j)), month)
    if low in _AMBIGUOUS and not (
        tokens[i].text[0].isupper()
        and _low(tokens, i - 1) in _YEAR_AFTER | {"early", "late", "mid"}
    ):
        return None
    return i + 1, _near_month(
        month, today, 1 if future and month != today.month else _back(month, today)
    )


def _back(month: int, today: date) -> int:
    return 0 if month <= today.month else -1


def _with_year(
    tokens: Sequence[Token], j: int, today: date, month: int, day: int, future: bool
) -> Found:
    k = j + (_low(tokens, j) in (",", "of"))
    if _YEAR.fullmatch(_low(tokens, k)):
        return k + 1, _day(date(int(_low(tokens, k)), month, day))
    return j, _day(_nearest(month, day, today, 1 if future else -_is_past(tokens)))


def _nearest(month: int, day: int, today: date, tense: int) -> date:
    """The day without a year that is meant: of the tense's side, else the nearest on either."""
    years = [today.year + step for step in (-4, -1, 0, 1, 4)]  # 4: for the 29th of February
    days = [date(year, month, day) for year in years if day <= monthrange(year, month)[1]]
    allowed = [found for found in days if (found - today).days * tense >= 0]
    return min(allowed, key=lambda found: abs((found - today).days))


def _is_past(tokens: Sequence[Token]) -> bool:
    return any(token.low in _PAST or token.low.endswith("ed") for token in tokens)


def _numeric(tokens: Sequence[Token], i: int, today: date, future: bool) -> Found:
    """Read "2023-05-07", "25/12/2023", "7 May", "the 5th of May 2023", "2022", "3 weeks ago"."""
    low = tokens[i].low
    iso = _ISO.fullmatch(low)
    if iso is not None:
        year, month = int(iso[1]), int(iso[2])
        return i + 1, _day(date(year, month, int(iso[3]))) if iso[3] else _month(year, month)
    slashed = _SLASHED.fullmatch(low)
    if slashed is not None:
        return _slashed(i, *(int(part) for part in slashed.groups()))
    ordinal = _ORDINAL.fullmatch(low)
    if ordinal is not None:
        j = i + 1 + (_low(tokens, i + 1) == "of")
        month_name = _low(tokens, j)
        if month_name in _MONTHS and 1 <= int(ordinal[1]) <= 31:
            return _with_year(tokens, j + 1, today, _MONTHS[month_name], int(ordinal[1]), future)
        if not low.isdigit():
            return _day_of_month(tokens, i, int(ordinal[1]), today, future)
    if _YEAR.fullmatch(low) and _low(tokens, i - 1) in _YEAR_AFTER:
        return i + 1, low
    return _counted(tokens, i, today)


def _slashed(i: int, first: int, second: int, year: int) -> Found:
    if first > 12 >= second:
        return i + 1, _day(date(year, second, first))
    if second > 12 >= first:
        return i + 1, _day(date(year, first, second))
    return None  # 5/7/2023 is a day in May for some and in July for others


def _day_of_month(tokens: Sequence[Token], i: int, day: int, today: date, future: bool) -> Found:
    if _low(tokens, i - 1) != "the" or _low(tokens, i - 2) not in ("on", "by", "until", "since"):
        return None
    month = today.month
    if future and day < today.day:
        month += 1
    if not future and day > today.day:
        month -= 1
    year, month = today.year + (month - 1) // 12, (month - 1) % 12 + 1
    return i + 1, _day(date(year, month, day))


def _counted(tokens: Sequence[Token], i: int, today: date) -> Found:
    """Read "two weeks ago", "a couple of months ago", "in 3 days", "a year from now"."""
    low = tokens[i].low
    count = int(low) if low.isdigit() and len(low) < 4 else NUMBERS.get(low)
    if count is None:
        return None
    j = i + 1
    if _low(tokens, j) == "couple":
        count, j = 2, j + 1
    if _low(tokens, j) == "of":
        j += 1
    unit = _UNITS.get(_low(tokens, j))
    if unit is None:
        return None
    following = (_low(tokens, j + 1), _low(tokens, j + 2))
    if following[0] in ("ago", "back"):
        return j + 2, _moved(today, unit, -count)
    if following == ("from", "now"):
        return j + 3, _moved(today, unit, count)
    if _low(tokens, i - 1) == "in" and following[0] not in ("'s", "of"):
        return j + 1, _moved(today, unit, count)
    return None


def _moved(today: date, unit: str, count: int) -> str:
    if unit in ("day", "night"):
        return _day(today + timedelta(days=count))
    if unit == "week":
        return _week(today + timedelta(weeks=count))
    if unit == "weekend":
        return _weekend(today + timedelta(weeks=count))
    if unit == "month":
        return _month(today.year, today.month + count)
    return _year(today.year + count)


_TRIGGERS = (
    frozenset(_SIMPLE)
    | word_set("last past next this coming previous following")
    | frozenset(_MONTHS)
    | frozenset(_WEEKDAYS)
    | frozenset(NUMBERS)
    | word_set("few several many the some")
)
