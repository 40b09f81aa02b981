"""The grammar of English time expressions: what times the words may mean, before any tense.

A sentence is matched as the text of its tokens in lower case, one space between two tokens. Each
rule is a regular expression with a reader, which returns a :class:`Time`: all times that the words
allow. Rules are tried in the order of :data:`_RULES`.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from cognigraph.english import verbs, words
from cognigraph.english.times import calendar, readers
from cognigraph.english.times.readers import Reader, Time
from cognigraph.english.times.time_words import (
    COUNTS,
    DAYPARTS,
    MONTHS,
    ORDINALS,
    SIMPLE,
    UNITS,
    WEEKDAYS,
)

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_WD = "|".join(sorted((day for day in WEEKDAYS if not day.endswith("days")), key=len, reverse=True))
_TH = r"(?:st|nd|rd|th)?"
_DAY = rf"(?:0?[1-9]|[12]\d|3[01]){_TH}"
_NTH = r"(?:[1-9]|[12]\d|3[01])(?:st|nd|rd|th)"
_ORDINAL = "|".join(ORDINALS)
_YEAR = r"(?:19|20)\d\d"
_SEASON = "|".join(calendar.SEASONS)
_HOLIDAY = "|".join(sorted(calendar.HOLIDAYS, key=len, reverse=True))
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

_RULES: tuple[tuple[str | None, str, Reader], ...] = (
    # Habits, vague times and times of day are found so that nothing else takes their words.
    (None, rf"(?:every|each|any|most|alternate) (?:other |second )?(?:{_WD}|{_UNIT})"
     rf"{_IN_DAY}", readers.read_nothing),
    (None, rf"(?:once|twice|(?:{_COUNT}) times) (?:a|an|every|each|per) (?:{_UNIT})",
     readers.read_nothing),
    (None, rf"(?:a |an |the |some )?(?:few|several|many|couple(?: of)?|half an?|long|good)"
     rf"(?: (?:{_UNIT}|time))? (?:ago|back|later)", readers.read_nothing),
    (None, r"(?:a|some|quite a|a little) (?:while|time) (?:ago|back)", readers.read_nothing),
    (None, rf"the (?:other|next|following|previous|same|whole) (?:{_UNIT}|{_WD}|{_PART})",
     readers.read_nothing),
    (None, rf"the (?:last|past|next|first) (?:(?:{_COUNT}|few|couple(?: of)?|several) )?"
     rf"(?:{_UNIT})(?! of (?:{_MONTH})\b)", readers.read_nothing),
    (None, rf"(?:{_COUNT}) (?:{_UNIT}) (?:later|earlier|apart|straight)",
     readers.read_nothing),
    (None, rf"(?:{_COUNT}) (?:{_UNIT}) and (?:a half|{_COUNT}) .{{0,9}}?ago",
     readers.read_nothing),
    (None, rf"(?:{_COUNT}) (?:or|to|-|–) (?:{_COUNT}) (?:{_UNIT}) (?:ago|back)",
     readers.read_nothing),
    (None, rf"(?:{_WD})(?:(?: ?[-–/&,] ?| and | or |, and | )(?:{_WD}))+{_IN_DAY}",
     readers.read_nothing),
    (None, r"([12]\d{3})([-/])(\d\d)\2(\d\d)(?:t\d\S*)?", readers.read_iso),
    (None, r"(\d{1,2})([/.])(\d{1,2})\2(\d{4})", readers.read_slashed),
    (None, rf"{_ON_DAY}(?:the )?(?P<day>{_DAY}|{_ORDINAL})"
     rf"(?: of)? (?P<month>{_MONTH})\b{_IN_YEAR}", readers.read_month_day),
    (None, rf"(?:the )?(?P<day>\d\d?){_TH}{_TO}(?:the )?(?P<until>\d\d?){_TH}"
     rf"(?: of)? (?P<month>{_MONTH}){_IN_YEAR}", readers.read_month_day),
    (None, rf"(?P<month>{_MONTH}) (?P<day>\d\d?){_TH}{_TO}"
     rf"(?P<until>\d\d?){_TH}(?! (?:{_MONTH})){_IN_YEAR}", readers.read_month_day),
    (None, rf"{_ON_DAY}(?P<month>{_MONTH}) (?:the )?(?P<day>{_DAY}|{_ORDINAL})"
     rf"(?! (?:week|half|{_WD})){_IN_YEAR}", readers.read_month_day),
    (None, rf"(?:the )?({_ORDINAL}|last|final) (half|week) (?:of|in) (?P<month>{_MONTH})"
     rf"{_IN_YEAR}", readers.read_part),
    (None, rf"(?:the )?(?:{_ORDINAL}|last) (?:{_WD}) (?:of|in)"
     rf" (?:(?:the|each|every) \w+|{_MONTH})(?: {_YEAR})?", readers.read_nothing),
    (None, rf"(?:mid-)?(?P<month>{_MONTH})(?: ?,?(?: of)? (?P<year>{_YEAR})"
     r"| (?:of )?(?P<step>last|this|next) year)", readers.read_month),
    (None, rf"mid-(?P<month>{_MONTH})(?P<year>)(?P<step>){_END}", readers.read_month),
    (_MONTH_AFTER, rf"(?P<month>{_MONTH})(?P<year>)(?P<step>){_END}", readers.read_month),
    (None, rf"(last|this past|this coming|this|next|past|coming) ({_WD}){_IN_DAY}"
     rf"{_END}", readers.read_stepped_weekday),
    (None, rf"(last|this|next) week (?:on )?({_WD})", readers.read_weekday_of),
    (None, rf"(last|this|next) (week|weekend|month|year){_END}", readers.read_stepped),
    (None, r"the (week|weekend|month|year) (?:before|after) (last|next)", readers.read_twice),
    (r"(?:over|at|on|during)", rf"the weekend{_END}", readers.read_weekend),
    (r"(?:end|close|start|beginning|middle) of", rf"the (week|month|year){_END}",
     readers.read_this),
    (None, rf"(last|this|next) ({_MONTH}|{_SEASON}|{_HOLIDAY}){_END}",
     readers.read_stepped_name),
    (None, rf"(last|this) (?:night|morning|afternoon|evening){_END}", readers.read_part_of_day),
    (None, rf"(the day (?:before (?=yes)|after (?=tom)))?"
     rf"(today|tonight|yesterday|tomorrow|tmrw|tmr){_IN_DAY}", readers.read_simple),
    (None, rf"({_WD}){_IN_DAY}(?: ,? ?the (?P<day>{_NTH})| (?:of )?"
     rf"(?P<step>last|this|next) week)?{_END}", readers.read_weekday),
    (None, rf"the ({_NTH}) of (last|this|next) month", readers.read_day_of_month),
    (r"(?:on|by|until|till|since|from|for|to|before|after|was|is|sorry|actually|,)",
     rf"the ({_NTH}){_END}", readers.read_of_month),
    (None, rf"({_COUNT}) ({_UNIT}) (ago|back|from now|from today)", readers.read_ago),
    (r"in", rf"({_COUNT}) ({_UNIT}){_END}", readers.read_ahead),
    (None, rf"q([1-4])(?: (?P<year>{_YEAR})(?P<step>))", readers.read_quarter),
    (_MONTH_AFTER, rf"q([1-4])(?P<year>)(?P<step>){_END}", readers.read_quarter),
    (None, rf"({_SEASON})(?: of)? (?P<year>{_YEAR})(?P<step>){_END}", readers.read_season),
    (r"(?:in|during|over|since|by|until|till|before|after)(?: the)?",
     rf"(?:the )?({_SEASON}){_IN_YEAR}{_END}", readers.read_season),
    (None, rf"({_HOLIDAY}) (?P<year>{_YEAR})(?P<step>)", readers.read_holiday),
    (r"(?:at|on|since|until|till|by|before|after|over)", rf"({_HOLIDAY}){_IN_YEAR}{_END}",
     readers.read_holiday),
    (None, r"the ((?:19|20)[1-9])0s", readers.read_decade),
    (_YEAR_AFTER, rf"({_YEAR})(?= (?:to|and|until|till|through|-|–) {_YEAR}{_END})",
     readers.read_year),
    (_YEAR_AFTER, rf"({_YEAR})(?! (?:to|and|-|–) \d){_END}", readers.read_year),
    (None, r"\d{1,2}(?: : \d\d| ?(?:am|pm|o'clock)|:\d\d)(?: ?(?:am|pm))?",
     readers.read_nothing),
    (r"at", rf"(?:{_COUNT}|ten)(?: (?:past|to) (?:{_COUNT}))?(?: in the {_PART})?{_END}",
     readers.read_nothing),
)  # fmt: skip
"""What stands before an expression, if it must; the expression; and what reads it."""
_FIRST = "|".join(
    sorted(
        {*MONTHS, *WEEKDAYS, *ORDINALS, *calendar.SEASONS, *SIMPLE, *COUNTS}
        | {name.split()[0] for name in calendar.HOLIDAYS}
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
