"""Time in a question: a window, an anchor, an order, or nothing. Rules for English, no model.

| question                                        | read as                                      |
|-------------------------------------------------|----------------------------------------------|
| "... in May 2023", "last summer", "two weeks ago" | a window that turns should lie near        |
| "... before June", "since 2022"                 | a window with one open end                   |
| "... the week before 3 August 2023"             | a window counted from that day               |
| "... before she moved", "after the wedding"     | an anchor: the event dates the window        |
| "... now", "most recently", "the first time"    | an order: newest or oldest state first       |
| "when did", "how long ago", "how long"          | what the answer is: dates are worth showing  |
| "as of March"                                   | what was said later is left out              |

Relative times count from ``now``, the time of asking.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from cognigraph.english.sentences import Token, sentences
from cognigraph.english.times.find import TimeSpan, find_times
from cognigraph.retrieve.asked_time import AskedTime, Stretch, asked_times
from cognigraph.times import When, parse_when

Order = Literal["first", "last"]
Asks = Literal["when", "how long"]
Side = Literal["before", "after"]

_LAST = re.compile(
    r"\b(?:most recent(?:ly)?|latest|newest|the last time|last time|currently|current|nowadays"
    r"|these days|at the moment|right now|at present|by now|any ?more|now|still)\b"
)
_FIRST = re.compile(
    r"\b(?:(?:for )?the first time|first time|originally|initially|earliest|at first"
    r"|in the beginning(?! of)|to begin with"
    r"|did (?:\S+ ){0,2}(?!(?:his|her|its|my|your|our|their|the|an?)\b)\S+ first)\b"
)
_NOT_NOW = re.compile(r"\b(?:from now|until now|just now|now that)\b")
_WHEN = re.compile(
    r"^(?:and |so |but )?(?:(?:since|until|by) )?(?:when\b|(?:on|in|at|by|during)? ?(?:what|which) "
    r"(?:exact )?(?:date|day|month|year|time|weekday|season)\b)|\bhow (?:long|many (?:days|weeks"
    r"|months|years)) ago\b|\bwhen (?:did|does|do|was|were|is|are|will|has|have|had)\b"
)
_HOW_LONG = re.compile(r"\b(?:for )?how (?:long|many (?:days|weeks|months|years))\b(?! ago)")
_EVENT = re.compile(
    r"\b(before|prior to|until|till|after|since|following)\s+(?!(?:that|this|then|it|all)\b)"
    r"([^,?;.!]+)"
)
_BEFORE = frozenset({"before", "until", "till", "by", "prior"})
_AFTER = frozenset({"after", "since", "following"})
_RELATIVE = frozenset(
    "last past previous this next coming ago back yesterday today tonight tomorrow now".split()
)
_LENGTH = {"day": 1, "weekend": 7, "week": 7, "month": 31, "year": 366}
_COUNTED_BEFORE = re.compile(
    r"\b(?:(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|the|last) )?"
    r"(?P<unit>day|weekend|week|month|year)s? (?P<side>before|after)\b"
)
_NUMBERS = "the one two three four five six seven eight nine ten".split()
_COUNTS = {word: number for number, word in enumerate(_NUMBERS)} | {"a": 1, "an": 1, "last": 0}


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event by which a question dates what it asks for."""

    side: Side
    event: str


@dataclass(frozen=True, slots=True)
class QuestionTime:
    """What a question says about time; everything empty where it says nothing."""

    times: tuple[AskedTime | Stretch, ...] = ()
    anchor: Anchor | None = None
    order: Order | None = None
    asks: Asks | None = None
    as_of: datetime | None = None


def read_time(question: str, now: datetime) -> QuestionTime:
    """Read the time out of a question asked at ``now``. Pure; never raises on any text."""
    tokens = [token for sentence in sentences(question) for token in sentence.tokens]
    low = " ".join(token.low for token in tokens)
    as_of: datetime | None = None
    relative: list[Stretch] = []
    sided: list[Stretch] = []
    covered: set[int] = set()
    for span in find_times(tokens, now):
        when = parse_when(span.when)
        start = _opening(tokens, span)
        if when is None:
            continue
        said = [token.low for token in tokens[start : span.end]]
        if said[:2] == ["as", "of"]:
            as_of = min(when.end, now)
        elif (stretch := _one_sided(said, when, low)) is not None:
            sided.append(stretch)
        elif any(word in _RELATIVE for word in said):
            relative.append(Stretch(when.start, when.end))
        else:
            continue  # a plain date: read below, with any year if it has none
        covered.update(range(start, span.end))
    rest = " ".join(token.text for place, token in enumerate(tokens) if place not in covered)
    named = asked_times(rest)
    if sided or any(time.day for time in named):
        relative = []  # "last weekend before 10 April": it counts from there, not from now
    times: tuple[AskedTime | Stretch, ...] = (*relative, *sided, *named)
    asks: Asks | None = "when" if _WHEN.search(low) else None
    if asks is None and _HOW_LONG.search(low):
        asks = "how long"
    return QuestionTime(
        times=tuple(dict.fromkeys(times)),
        anchor=None if covered else _anchor(low, bool(times)),
        # A date says which state is meant, and a duration has a beginning as well as an end.
        order=None if times or asks == "how long" else _order(low),
        asks=asks,
        as_of=as_of,
    )


def _opening(tokens: list[Token], span: TimeSpan) -> int:
    """Where the expression starts, with the preposition before it."""
    start = span.start
    while start > 0 and tokens[start - 1].low in _BEFORE | _AFTER | {"as", "of", "to"}:
        start -= 1
    return start


def _one_sided(said: list[str], when: When, question: str) -> Stretch | None:
    """What "before", "since" or "two weeks after" make of a date; None without such a word."""
    side = next((word for word in said[:2] if word in _BEFORE | _AFTER), None)
    if side is None or side == "by":
        return None
    counted = _COUNTED_BEFORE.search(question)
    if counted is not None and side in ("before", "after"):
        return _counted(counted, when)
    if side in _BEFORE:
        return Stretch(None, when.start)
    return Stretch(when.start if side == "since" else when.end, None)


def _counted(match: re.Match[str], when: When) -> Stretch:
    """ "two weeks before 3 August": the week that lies two weeks before, and what is between."""
    word = match["count"] or "the"
    count = max(int(word) if word.isdigit() else _COUNTS[word], 1)
    length = timedelta(days=_LENGTH[match["unit"]])
    far = min(count, 200) * length
    try:
        if match["side"] == "before":
            return Stretch(when.start - far, when.start - far + length)
        return Stretch(when.end + far - length, when.end + far)
    except OverflowError:
        return Stretch(when.start, when.end)


def _order(low: str) -> Order | None:
    last = _LAST.search(_NOT_NOW.sub(" ", low))
    first = _FIRST.search(low)
    if last and first:
        return None  # "the first time ... now": no single state is meant
    return "last" if last else "first" if first else None


def _anchor(low: str, dated: bool) -> Anchor | None:
    match = _EVENT.search(low)
    if match is None or dated:
        return None
    event = match[2].strip()
    if len(event.split()) < 2:
        return None
    return Anchor(
        "before" if match[1] in ("before", "prior to", "until", "till") else "after", event
    )
