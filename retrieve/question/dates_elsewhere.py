"""Find dates in a question that is not English: "im März 2025", "2025年3月中旬", "el 5 de mayo".

The names of months, and words such as "gestern" and "vor 3 Tagen", come from the data of dateparser
(the Unicode CLDR and its own additions). The grammar is the same for all languages that write words
with spaces: a month, perhaps with a day before it and a year behind it. What is not certain is not
read: a short name of a month ("mar") counts only beside a number.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from cognigraph.retrieve.question.dates import MONTHS, NamedDate, TimeWindow
from cognigraph.text.language import languages_of
from cognigraph.text.terms import fold

_MODULE = "dateparser.data.date_translation_data"
_SHORTEST_NAME = 4
"""Letters from which the name of a month stands for itself; "mai" and "maj" need a number."""

_UNSPACED = frozenset({"zh", "ja", "th"})
_MOST_AGO = 400
_DIGITS = {digit: number for number, digit in enumerate("〇一二三四五六七八九十")}
_NUMBER = "[0-9]{1,2}|[一二三四五六七八九十]{1,3}"
_EAST_ASIAN = re.compile(
    rf"(?:(?P<year>(?:19|20)[0-9]{{2}})\s*[年년]\s*)?"
    rf"(?:(?P<month>{_NUMBER})\s*(?:月|월)(?!份?[间間])份?\s*"
    rf"(?:(?P<day>{_NUMBER})\s*[日号號일]|(?P<part>上旬|初|中旬|下旬|末|底|초|중순|말))?)?"
)
_PARTS = {"上旬": (1, 10), "初": (1, 10), "초": (1, 10), "中旬": (11, 20), "중순": (11, 20)}
_LATE = (21, 31)
_LATIN_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def dates_elsewhere(question: str, now: datetime) -> tuple[NamedDate | TimeWindow, ...]:
    """Return the dates of a question in any language but English, in order."""
    found = [*_east_asian(question, now)]
    for language in languages_of(question):
        found += _named_months(fold(question), language)
        found += _relative(fold(question), language, now)
    if not found:
        found += [NamedDate(int(match[0])) for match in _LATIN_YEAR.finditer(question)]
    return tuple(dict.fromkeys(found))


def _east_asian(question: str, now: datetime) -> list[NamedDate | TimeWindow]:
    """Dates as they are written in Chinese, Japanese and Korean: year, month, day."""
    found: list[NamedDate | TimeWindow] = []
    for match in _EAST_ASIAN.finditer(question):
        year = int(match["year"]) if match["year"] else None
        month = _number(match["month"])
        if month is None or not 1 <= month <= 12:
            found += [NamedDate(year)] if year else []
        elif match["part"]:
            found.append(_part_of_month(year, month, _PARTS.get(match["part"], _LATE), now))
        else:
            found.append(NamedDate(year, month, _number(match["day"])))
    return found


def _number(written: str | None) -> int | None:
    """The number of up to two digits, or of Chinese ones up to 99."""
    if not written or written.isdecimal():
        return int(written) if written else None
    tens, ten, ones = written.rpartition("十")
    if not ten:
        return _DIGITS[ones] if len(ones) == 1 else None
    return (_DIGITS.get(tens, 1) if tens else 1) * 10 + (_DIGITS.get(ones, 0) if ones else 0)


def _part_of_month(
    year: int | None, month: int, days: tuple[int, int], now: datetime
) -> TimeWindow | NamedDate:
    """The first, second or last ten days of a month; without a year, of its last one."""
    chosen = year or (now.year if month <= now.month else now.year - 1)
    whole = NamedDate(chosen, month).interval(chosen)
    assert whole is not None  # such a month exists in every year
    first = whole[0] + timedelta(days=days[0] - 1)
    return TimeWindow(first, min(whole[0] + timedelta(days=days[1]), whole[1]))


class _Words(NamedTuple):
    """What a language calls the months, and how it says how long ago something was."""

    date: re.Pattern[str] | None
    months: dict[str, int]
    ago: tuple[tuple[re.Pattern[str], str], ...]


@lru_cache(maxsize=32)
def _words_of(language: str) -> _Words:
    """Read the data of a language; none if dateparser does not know it."""
    try:
        info: dict[str, Any] = import_module(f"{_MODULE}.{language}").info
    except ModuleNotFoundError:
        return _Words(None, {}, ())
    months = {
        fold(name).rstrip("."): number
        for number, month in enumerate(MONTHS, 1)
        for name in info.get(month, ())
    }
    names = "|".join(sorted(map(re.escape, months), key=len, reverse=True))
    date = re.compile(
        rf"(?:(?P<day>[0-3]?\d)(?:\.|º|er)?\s*(?:de\s+)?)?\b(?P<month>{names})\b\.?"
        rf"(?:\s*(?:de\s+|del\s+)?(?P<year>(?:19|20)\d\d))?"
    )
    ago = tuple(_ago_patterns(info, spaced=language not in _UNSPACED))
    return _Words(date if months else None, months, ago)


def _ago_patterns(info: dict[str, Any], *, spaced: bool) -> list[tuple[re.Pattern[str], str]]:
    """Patterns with what they mean in English, such as "1 day ago" or "\\1 week ago"."""
    patterns = []
    before, after = (r"(?<!\w)", r"(?!\w)") if spaced else ("", "")
    for meaning, words in info.get("relative-type", {}).items():
        if meaning.endswith(" ago") and not meaning.startswith("0"):
            listed = "|".join(re.escape(fold(word)) for word in words)
            patterns.append((re.compile(rf"{before}(?:{listed}){after}"), meaning))
    for meaning, written in info.get("relative-type-regex", {}).items():
        if meaning.endswith(" ago"):
            patterns += [(re.compile(f"{before}{one}", re.IGNORECASE), meaning) for one in written]
    return patterns


def _named_months(question: str, language: str) -> list[NamedDate]:
    known = _words_of(language)
    found = []
    for match in known.date.finditer(question) if known.date else ():
        year = int(match["year"]) if match["year"] else None
        if len(match["month"]) < _SHORTEST_NAME and not (year or match["day"]):
            continue
        day = int(match["day"]) if match["day"] else None
        found.append(NamedDate(year, known.months[match["month"]], day or None))
    return found


_DAYS = {"day": 1, "week": 7}


def _relative(question: str, language: str, now: datetime) -> list[NamedDate | TimeWindow]:
    """What "gestern", "letzte Woche" and "vor 3 Monaten" mean: a day, seven days, a month, a year.

    Months and years are those of the calendar.
    """
    found: list[NamedDate | TimeWindow] = []
    for pattern, meaning in _words_of(language).ago:
        match = pattern.search(question)
        count, unit, _ = meaning.split(" ", 2)
        number = None if match is None else int(count) if count.isdecimal() else _count_in(match)
        if number is None or number > _MOST_AGO:
            continue
        if unit in _DAYS:
            today = datetime(now.year, now.month, now.day, tzinfo=now.tzinfo or UTC)
            start = today - timedelta(days=number * _DAYS[unit])
            found.append(TimeWindow(start, start + timedelta(days=_DAYS[unit])))
        elif unit == "month":
            months = now.year * 12 + now.month - 1 - number
            found.append(NamedDate(months // 12, months % 12 + 1))
        elif unit == "year":
            found.append(NamedDate(now.year - number))
    return found


def _count_in(match: re.Match[str]) -> int | None:
    written = next((group for group in match.groups() if group), "")
    return int(written) if written.isdecimal() else None
